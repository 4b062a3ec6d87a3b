-- Accounts: with what a principal authenticates at a server, in the place of what the deployment has for it. They end with the principal,
-- with the server, and with the origin that they were given for.
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  principal_id TEXT NOT NULL,
  server_id TEXT NOT NULL,
  auth_sealed TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (principal_id, server_id)
) STRICT;
CREATE INDEX accounts_by_server ON accounts (server_id, created_at);

ALTER TABLE servers ADD COLUMN accounts TEXT NOT NULL DEFAULT 'shared';

CREATE TRIGGER accounts_of_deleted_principal AFTER DELETE ON principals
BEGIN
  DELETE FROM accounts WHERE principal_id = OLD.id;
END;
CREATE TRIGGER accounts_of_deleted_server AFTER DELETE ON servers
BEGIN
  DELETE FROM accounts WHERE server_id = OLD.id;
END;
CREATE TRIGGER accounts_of_moved_server AFTER UPDATE OF url ON servers
WHEN substr(OLD.url || '/', 1, 7 + instr(substr(OLD.url || '/', 9), '/'))
  <> substr(NEW.url || '/', 1, 7 + instr(substr(NEW.url || '/', 9), '/'))
BEGIN
  DELETE FROM accounts WHERE server_id = NEW.id;
END;
