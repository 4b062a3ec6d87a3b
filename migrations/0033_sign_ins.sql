-- People who are signed in with a browser, and the invitations by which they come. The cookie's HMAC is kept, never the cookie.
CREATE TABLE sign_ins (
  id TEXT PRIMARY KEY,
  hmac TEXT NOT NULL UNIQUE,
  principal_id TEXT NOT NULL,
  token_id TEXT,
  identity_id TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_ins_by_principal ON sign_ins (principal_id);
CREATE INDEX sign_ins_by_token ON sign_ins (token_id) WHERE token_id IS NOT NULL;
CREATE INDEX sign_ins_by_identity ON sign_ins (identity_id) WHERE identity_id IS NOT NULL;
CREATE INDEX sign_ins_by_expiry ON sign_ins (expires_at);

CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  hmac TEXT NOT NULL UNIQUE,
  principal_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX invitations_by_principal ON invitations (principal_id);

CREATE TRIGGER sign_in_of_deleted_token AFTER DELETE ON tokens
WHEN OLD.grant_id IS NULL
BEGIN
  DELETE FROM sign_ins WHERE token_id = OLD.id;
END;
CREATE TRIGGER sign_in_of_deleted_principal AFTER DELETE ON principals
BEGIN
  DELETE FROM sign_ins WHERE principal_id = OLD.id;
  DELETE FROM invitations WHERE principal_id = OLD.id;
END;
