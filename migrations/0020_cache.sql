-- Rules of the result cache: which tools of which server may be answered with a result of before, for how long, and whether for everybody. They
-- come with the servers of the registry, whose revision each write moves.
CREATE TABLE cache_rules (
  id TEXT PRIMARY KEY,
  server_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  ttl_seconds INTEGER NOT NULL,
  is_public INTEGER NOT NULL,
  description TEXT NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX cache_rules_tool ON cache_rules (server_id, tool);
CREATE INDEX cache_rules_created ON cache_rules (created_at DESC, id);

CREATE TRIGGER cache_rules_inserted AFTER INSERT ON cache_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER cache_rules_updated AFTER UPDATE ON cache_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER cache_rules_deleted AFTER DELETE ON cache_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER cache_rules_of_deleted AFTER DELETE ON servers
BEGIN
  DELETE FROM cache_rules WHERE server_id = OLD.id;
END;
