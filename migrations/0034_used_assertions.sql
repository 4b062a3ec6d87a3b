-- Signed assertions by which clients showed who they are: each is taken once. And the clients that registered and were never used, which
-- are counted and forgotten first.
CREATE TABLE oauth_assertions (
  hash TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_assertions_by_expiry ON oauth_assertions (expires_at);
CREATE INDEX oauth_clients_unused ON oauth_clients (created_at) WHERE kind = 'registered' AND last_used_at IS NULL;
