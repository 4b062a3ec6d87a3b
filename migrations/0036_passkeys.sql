-- Passkeys: each brings back what a person was signed in by when it was registered. It ends with that token, identity or principal, and
-- what came of it ends with it.
CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  credential_id TEXT NOT NULL UNIQUE,
  principal_id TEXT NOT NULL,
  token_id TEXT,
  identity_id TEXT,
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  challenged_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE INDEX passkeys_by_principal ON passkeys (principal_id);
CREATE INDEX passkeys_by_token ON passkeys (token_id) WHERE token_id IS NOT NULL;
CREATE INDEX passkeys_by_identity ON passkeys (identity_id) WHERE identity_id IS NOT NULL;

ALTER TABLE sign_ins ADD COLUMN passkey_id TEXT;
ALTER TABLE oauth_grants ADD COLUMN passkey_id TEXT;
CREATE INDEX sign_ins_by_passkey ON sign_ins (passkey_id) WHERE passkey_id IS NOT NULL;
CREATE INDEX oauth_grants_by_passkey ON oauth_grants (passkey_id) WHERE passkey_id IS NOT NULL;

CREATE TRIGGER passkeys_of_deleted_token AFTER DELETE ON tokens
WHEN OLD.grant_id IS NULL
BEGIN
  DELETE FROM passkeys WHERE token_id = OLD.id;
END;
CREATE TRIGGER passkeys_of_deleted_identity AFTER DELETE ON identities
BEGIN
  DELETE FROM passkeys WHERE identity_id = OLD.id;
END;
CREATE TRIGGER passkeys_of_deleted_principal AFTER DELETE ON principals
BEGIN
  DELETE FROM passkeys WHERE principal_id = OLD.id;
END;
CREATE TRIGGER sign_in_of_deleted_passkey AFTER DELETE ON passkeys
BEGIN
  DELETE FROM sign_ins WHERE passkey_id = OLD.id;
  DELETE FROM oauth_grants WHERE passkey_id = OLD.id;
END;
