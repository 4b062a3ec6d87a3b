-- Where people sign in besides the gateway (providers), and who they are there (identities). The end of a provider is the end of its
-- identities; the end of an identity is the end of what came of it.
CREATE TABLE sign_in_providers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  kind TEXT NOT NULL,
  issuer TEXT NOT NULL UNIQUE,
  client_id TEXT NOT NULL,
  client_secret TEXT,
  settings TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE identities (
  id TEXT PRIMARY KEY,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  name TEXT NOT NULL,
  email TEXT,
  groups TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  signed_in_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (issuer, subject)
) STRICT;
CREATE INDEX identities_by_provider ON identities (provider_id);
CREATE INDEX identities_by_principal ON identities (principal_id);

CREATE TRIGGER identities_of_deleted_provider AFTER DELETE ON sign_in_providers
BEGIN
  DELETE FROM identities WHERE provider_id = OLD.id;
END;
CREATE TRIGGER identities_of_deleted_principal AFTER DELETE ON principals
BEGIN
  DELETE FROM identities WHERE principal_id = OLD.id;
END;
CREATE TRIGGER sign_in_of_deleted_identity AFTER DELETE ON identities
BEGIN
  DELETE FROM sign_ins WHERE identity_id = OLD.id;
  DELETE FROM oauth_grants WHERE identity_id = OLD.id;
END;
-- Who signs in again keeps what they allowed programs.
CREATE TRIGGER grants_of_renewed_identity AFTER UPDATE OF expires_at ON identities
BEGIN
  UPDATE oauth_grants SET ends_at = NEW.expires_at WHERE identity_id = NEW.id;
END;
