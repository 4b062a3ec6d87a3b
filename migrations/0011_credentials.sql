-- Credentials. Named secrets that configurations refer to; how a server is authenticated at, and what of it may be shown; access tokens that
-- servers' monitors fetched; and under which key the HMAC of a token is. Every change of what a request needs moves the registry's revision.
CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  sealed TEXT NOT NULL,
  origins TEXT NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

ALTER TABLE servers ADD COLUMN auth_sealed TEXT;
ALTER TABLE servers ADD COLUMN credential_view TEXT;
ALTER TABLE servers ADD COLUMN credential_revision INTEGER NOT NULL DEFAULT 1;

CREATE TABLE access_tokens (
  server_id TEXT PRIMARY KEY,
  sealed TEXT,
  serial INTEGER NOT NULL,
  credential_key TEXT NOT NULL,
  token_origin TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

ALTER TABLE tokens ADD COLUMN key_id TEXT;

CREATE TRIGGER secrets_inserted AFTER INSERT ON secrets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER secrets_updated AFTER UPDATE ON secrets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER access_tokens_inserted AFTER INSERT ON access_tokens
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER access_tokens_updated AFTER UPDATE ON access_tokens
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

-- An access token belongs to the credential it was fetched with. Both statements below move the revision by the trigger of servers.
CREATE TRIGGER access_tokens_of_deleted AFTER DELETE ON servers
BEGIN
  DELETE FROM access_tokens WHERE server_id = OLD.id;
END;

CREATE TRIGGER access_tokens_of_changed AFTER UPDATE OF credential_revision ON servers
WHEN OLD.credential_revision <> NEW.credential_revision
BEGIN
  DELETE FROM access_tokens WHERE server_id = OLD.id;
END;
