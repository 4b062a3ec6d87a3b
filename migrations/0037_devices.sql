-- Programs on machines without a browser (RFC 8628): each waits under a code until somebody allows it elsewhere. And how many codes
-- everybody tried, since they are short.
CREATE TABLE oauth_devices (
  hmac TEXT PRIMARY KEY,
  user_hmac TEXT NOT NULL UNIQUE,
  client_id TEXT NOT NULL,
  audience TEXT NOT NULL,
  scopes TEXT NOT NULL,
  refused INTEGER NOT NULL DEFAULT 0,
  polled_at INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_devices_by_age ON oauth_devices (created_at);
CREATE INDEX oauth_devices_by_client ON oauth_devices (client_id);

CREATE TABLE oauth_device_tries (
  principal_id TEXT PRIMARY KEY,
  tries INTEGER NOT NULL,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER oauth_devices_of_deleted_client AFTER DELETE ON oauth_clients
BEGIN
  DELETE FROM oauth_devices WHERE client_id = OLD.id;
END;
CREATE TRIGGER oauth_device_tries_of_deleted_principal AFTER DELETE ON principals
BEGIN
  DELETE FROM oauth_device_tries WHERE principal_id = OLD.id;
END;
