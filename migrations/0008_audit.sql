-- What was done, by whom. The rows of a shard are a chain: each hash covers its row and the hash before it.
CREATE TABLE audit_events (
  shard TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  principal_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'denied', 'failed')),
  code TEXT,
  detail TEXT NOT NULL,
  previous_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (shard, seq)
) STRICT;

CREATE INDEX audit_events_at ON audit_events (at);

-- The last row of each shard, so that a deletion at the end shows too.
CREATE TABLE audit_heads (
  shard TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT;

CREATE TRIGGER audit_events_inserted AFTER INSERT ON audit_events
BEGIN
  INSERT INTO audit_heads (shard, seq, hash) VALUES (NEW.shard, NEW.seq, NEW.hash)
  ON CONFLICT (shard) DO UPDATE SET seq = excluded.seq, hash = excluded.hash;
END;
