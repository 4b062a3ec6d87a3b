-- Counts the changes of `servers`, so that a request that holds the registry reads one number.
CREATE TABLE registry_revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL
) STRICT;

INSERT INTO registry_revision (id, revision) VALUES (1, 1);

CREATE TRIGGER servers_inserted AFTER INSERT ON servers
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER servers_updated AFTER UPDATE ON servers
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER servers_deleted AFTER DELETE ON servers
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
END;
