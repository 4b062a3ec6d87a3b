-- Codes that make an administrator of a new deployment: the HMAC of each, never the code.
CREATE TABLE setup_codes (
  hmac TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
