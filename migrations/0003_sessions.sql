-- Legacy client sessions that are alive. A session is bound to its principal and its endpoint.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  principal_id TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  capabilities TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_last_seen ON sessions (last_seen_at);
