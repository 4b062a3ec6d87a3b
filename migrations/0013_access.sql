-- Who may use what. Principals belong to groups and have scopes of their own; tokens may be narrowed and run out; rules allow and deny; toolsets
-- select. What a decision is made of besides the token moves the registry's revision.
ALTER TABLE principals ADD COLUMN groups TEXT NOT NULL DEFAULT '[]';
ALTER TABLE principals ADD COLUMN scopes TEXT;
ALTER TABLE principals ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE principals ADD COLUMN updated_at INTEGER;

ALTER TABLE tokens ADD COLUMN tools TEXT;
ALTER TABLE tokens ADD COLUMN toolsets TEXT;
ALTER TABLE tokens ADD COLUMN expires_at INTEGER;
ALTER TABLE tokens ADD COLUMN last_used_at INTEGER;
ALTER TABLE tokens ADD COLUMN former_of TEXT;

CREATE INDEX principals_created ON principals (created_at DESC, id);
CREATE INDEX tokens_principal ON tokens (principal_id);
CREATE INDEX tokens_former_of ON tokens (former_of);

CREATE TABLE access_rules (
  id TEXT PRIMARY KEY,
  effect TEXT NOT NULL CHECK (effect IN ('allow', 'deny')),
  subject_kind TEXT NOT NULL CHECK (subject_kind IN ('everyone', 'group', 'principal')),
  subject TEXT NOT NULL,
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  read_only INTEGER NOT NULL,
  description TEXT NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE toolsets (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  description TEXT NOT NULL,
  definition TEXT NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TRIGGER access_rules_inserted AFTER INSERT ON access_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER access_rules_updated AFTER UPDATE ON access_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER access_rules_deleted AFTER DELETE ON access_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER toolsets_inserted AFTER INSERT ON toolsets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER toolsets_updated AFTER UPDATE ON toolsets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER toolsets_deleted AFTER DELETE ON toolsets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;
