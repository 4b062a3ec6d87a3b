-- What each revision of the registry changed, so that an isolate reads that and nothing else. A revision without a row here, or one that is
-- too old to have any, has everything read. Every trigger that moves the revision says what it was of.
CREATE TABLE registry_changes (
  revision INTEGER NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (revision, kind, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER registry_changes_inserted AFTER INSERT ON registry_changes
BEGIN
  DELETE FROM registry_changes WHERE revision <= NEW.revision - 1000;
END;

DROP TRIGGER servers_inserted;
CREATE TRIGGER servers_inserted AFTER INSERT ON servers
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'server', NEW.id FROM registry_revision;
END;

DROP TRIGGER servers_updated;
CREATE TRIGGER servers_updated AFTER UPDATE ON servers
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'server', NEW.id FROM registry_revision;
END;

DROP TRIGGER servers_deleted;
CREATE TRIGGER servers_deleted AFTER DELETE ON servers
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'server', OLD.id FROM registry_revision;
END;

DROP TRIGGER access_rules_inserted;
CREATE TRIGGER access_rules_inserted AFTER INSERT ON access_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'rule', NEW.id FROM registry_revision;
END;

DROP TRIGGER access_rules_updated;
CREATE TRIGGER access_rules_updated AFTER UPDATE ON access_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'rule', NEW.id FROM registry_revision;
END;

DROP TRIGGER access_rules_deleted;
CREATE TRIGGER access_rules_deleted AFTER DELETE ON access_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'rule', OLD.id FROM registry_revision;
END;

DROP TRIGGER toolsets_inserted;
CREATE TRIGGER toolsets_inserted AFTER INSERT ON toolsets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'toolset', NEW.id FROM registry_revision;
END;

DROP TRIGGER toolsets_updated;
CREATE TRIGGER toolsets_updated AFTER UPDATE ON toolsets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'toolset', NEW.id FROM registry_revision;
END;

DROP TRIGGER toolsets_deleted;
CREATE TRIGGER toolsets_deleted AFTER DELETE ON toolsets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'toolset', OLD.id FROM registry_revision;
END;

DROP TRIGGER cache_rules_inserted;
CREATE TRIGGER cache_rules_inserted AFTER INSERT ON cache_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'server', NEW.server_id FROM registry_revision;
END;

DROP TRIGGER cache_rules_updated;
CREATE TRIGGER cache_rules_updated AFTER UPDATE ON cache_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'server', NEW.server_id FROM registry_revision;
END;

DROP TRIGGER cache_rules_deleted;
CREATE TRIGGER cache_rules_deleted AFTER DELETE ON cache_rules
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'server', OLD.server_id FROM registry_revision;
END;

DROP TRIGGER access_tokens_inserted;
CREATE TRIGGER access_tokens_inserted AFTER INSERT ON access_tokens
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'server', NEW.server_id FROM registry_revision;
END;

DROP TRIGGER access_tokens_updated;
CREATE TRIGGER access_tokens_updated AFTER UPDATE ON access_tokens
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'server', NEW.server_id FROM registry_revision;
END;

-- A secret comes along with the servers that refer to it.
DROP TRIGGER secrets_inserted;
CREATE TRIGGER secrets_inserted AFTER INSERT ON secrets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'secret', NEW.name FROM registry_revision;
  INSERT INTO registry_changes
  SELECT registry_revision.revision, 'server', servers.id FROM registry_revision, servers
  WHERE NEW.name IN (SELECT atom FROM json_tree(servers.credential_view, '$.secrets'));
END;

DROP TRIGGER secrets_updated;
CREATE TRIGGER secrets_updated AFTER UPDATE ON secrets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'secret', NEW.name FROM registry_revision;
  INSERT INTO registry_changes
  SELECT registry_revision.revision, 'server', servers.id FROM registry_revision, servers
  WHERE NEW.name IN (SELECT atom FROM json_tree(servers.credential_view, '$.secrets'));
END;

-- Nothing that a request is decided on is made of the taxonomy.
DROP TRIGGER skills_inserted;
CREATE TRIGGER skills_inserted AFTER INSERT ON skills
BEGIN
  UPDATE taxonomy SET revision = revision + 1;
END;

DROP TRIGGER skills_updated;
CREATE TRIGGER skills_updated AFTER UPDATE ON skills
BEGIN
  UPDATE taxonomy SET revision = revision + 1;
END;

DROP TRIGGER skills_deleted;
CREATE TRIGGER skills_deleted AFTER DELETE ON skills
BEGIN
  UPDATE taxonomy SET revision = revision + 1;
END;
