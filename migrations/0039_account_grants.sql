-- What accounts hold whose owners signed in at the server's own authorization server: the access token lies in the account, where a pasted
-- one lies; all that renews it is here. It ends with the account, and with the issuer that an administrator takes another client of.
CREATE TABLE account_grants (
  account_id TEXT PRIMARY KEY,
  issuer TEXT NOT NULL,
  resource TEXT NOT NULL,
  token_endpoint TEXT NOT NULL,
  revocation_endpoint TEXT,
  client_source TEXT NOT NULL,
  client_id TEXT NOT NULL,
  client_method TEXT NOT NULL,
  scope TEXT,
  asked_scope TEXT,
  wanted_scope TEXT,
  asked INTEGER NOT NULL DEFAULT 1,
  refresh_sealed TEXT,
  serial INTEGER NOT NULL,
  issued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  sent_serial INTEGER,
  ended TEXT
) STRICT;

-- Sign-ins at authorization servers that somebody left for and has not come back from.
CREATE TABLE account_connections (
  state_hash TEXT PRIMARY KEY,
  principal_id TEXT NOT NULL,
  server_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX account_connections_by_principal ON account_connections (principal_id, expires_at);

-- Clients that this deployment registered at authorization servers of servers.
CREATE TABLE upstream_clients (
  id TEXT PRIMARY KEY,
  issuer TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  client_id TEXT NOT NULL,
  secret_sealed TEXT,
  method TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (issuer, redirect_uri)
) STRICT;

CREATE TRIGGER grants_of_deleted_account AFTER DELETE ON accounts
BEGIN
  DELETE FROM account_grants WHERE account_id = OLD.id;
END;
CREATE TRIGGER connections_of_deleted_principal AFTER DELETE ON principals
BEGIN
  DELETE FROM account_connections WHERE principal_id = OLD.id;
END;
CREATE TRIGGER connections_of_deleted_server AFTER DELETE ON servers
BEGIN
  DELETE FROM account_connections WHERE server_id = OLD.id;
END;
CREATE TRIGGER accounts_of_moved_issuer AFTER UPDATE OF credential_view ON servers
WHEN json_extract(NEW.credential_view, '$.auth.type') = 'authorization_code'
BEGIN
  DELETE FROM accounts WHERE server_id = NEW.id AND id IN (
    SELECT account_id FROM account_grants WHERE issuer <> json_extract(NEW.credential_view, '$.auth.issuer'));
END;
