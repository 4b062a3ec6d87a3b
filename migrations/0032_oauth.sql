-- The authorization server: who may ask for tokens (clients), what people granted them (grants), and the refresh tokens of these. An access
-- token is a row of `tokens` with the grant it came of. The end of a principal, a token, a client or a grant is the end of what came of it.
CREATE TABLE oauth_clients (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('document', 'registered', 'manual')),
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  auth_methods TEXT NOT NULL,
  secret_hmac TEXT,
  key_id TEXT,
  jwks_uri TEXT,
  jwks TEXT,
  created_at INTEGER NOT NULL,
  fresh_until INTEGER,
  last_used_at INTEGER
) STRICT;
CREATE INDEX oauth_clients_by_use ON oauth_clients (kind, coalesce(last_used_at, created_at));

CREATE TABLE oauth_grants (
  id TEXT PRIMARY KEY,
  client_id TEXT NOT NULL,
  name TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  token_id TEXT,
  identity_id TEXT,
  audience TEXT NOT NULL,
  scopes TEXT NOT NULL,
  servers TEXT,
  tools TEXT,
  toolsets TEXT,
  code_hmac TEXT UNIQUE,
  code_challenge TEXT,
  redirect_uri TEXT,
  code_expires_at INTEGER,
  redeemed_at INTEGER,
  answer_sealed TEXT,
  answer_until INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ends_at INTEGER,
  last_used_at INTEGER
) STRICT;
CREATE INDEX oauth_grants_by_client ON oauth_grants (client_id);
CREATE INDEX oauth_grants_by_principal ON oauth_grants (principal_id);
CREATE INDEX oauth_grants_by_token ON oauth_grants (token_id) WHERE token_id IS NOT NULL;
CREATE INDEX oauth_grants_by_identity ON oauth_grants (identity_id) WHERE identity_id IS NOT NULL;
CREATE INDEX oauth_grants_by_expiry ON oauth_grants (expires_at);

CREATE TABLE oauth_refresh_tokens (
  hmac TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_refresh_tokens_by_grant ON oauth_refresh_tokens (grant_id);

CREATE TABLE oauth_requests (
  hmac TEXT PRIMARY KEY,
  sign_in_id TEXT NOT NULL,
  request TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_requests_by_sign_in ON oauth_requests (sign_in_id);

CREATE TABLE oauth_consents (
  principal_id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  audience TEXT NOT NULL,
  scopes TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (principal_id, client_id, audience)
) STRICT, WITHOUT ROWID;

ALTER TABLE tokens ADD COLUMN grant_id TEXT;
ALTER TABLE tokens ADD COLUMN audience TEXT;
CREATE INDEX tokens_by_grant ON tokens (grant_id) WHERE grant_id IS NOT NULL;

CREATE TRIGGER oauth_of_deleted_grant AFTER DELETE ON oauth_grants
BEGIN
  DELETE FROM tokens WHERE grant_id = OLD.id;
  DELETE FROM oauth_refresh_tokens WHERE grant_id = OLD.id;
  DELETE FROM oauth_consents WHERE OLD.redeemed_at IS NOT NULL
    AND principal_id = OLD.principal_id AND client_id = OLD.client_id AND audience = OLD.audience;
END;
CREATE TRIGGER oauth_of_deleted_client AFTER DELETE ON oauth_clients
BEGIN
  DELETE FROM oauth_grants WHERE client_id = OLD.id;
  DELETE FROM oauth_consents WHERE client_id = OLD.id;
END;
CREATE TRIGGER oauth_of_deleted_token AFTER DELETE ON tokens
WHEN OLD.grant_id IS NULL
BEGIN
  DELETE FROM oauth_grants WHERE token_id = OLD.id;
END;
CREATE TRIGGER oauth_of_deleted_principal AFTER DELETE ON principals
BEGIN
  DELETE FROM oauth_grants WHERE principal_id = OLD.id;
  DELETE FROM oauth_consents WHERE principal_id = OLD.id;
END;
