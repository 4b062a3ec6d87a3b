-- Who calls, and the bearer tokens that prove it. Only an HMAC of a token is stored.
CREATE TABLE principals (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  principal_id TEXT NOT NULL REFERENCES principals (id),
  name TEXT NOT NULL,
  hmac TEXT NOT NULL UNIQUE,
  servers TEXT,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
