-- Calls end in two more ways than acts do, and are looked for by who made them and what they were of.
ALTER TABLE audit_events RENAME TO audit_events_of_acts;

CREATE TABLE audit_events (
  shard TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  principal_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'denied', 'failed', 'cancelled', 'unknown')),
  code TEXT,
  detail TEXT NOT NULL,
  previous_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (shard, seq)
) STRICT;

INSERT INTO audit_events (shard, seq, id, at, principal_id, token_id, action, subject, outcome, code,
  detail, previous_hash, hash)
SELECT shard, seq, id, at, principal_id, token_id, action, subject, outcome, code,
  detail, previous_hash, hash FROM audit_events_of_acts;

-- Its index and trigger go with it.
DROP TABLE audit_events_of_acts;

CREATE INDEX audit_events_at ON audit_events (at);
CREATE INDEX audit_events_principal ON audit_events (principal_id, at);
CREATE INDEX audit_events_subject ON audit_events (subject, at);

CREATE TRIGGER audit_events_inserted AFTER INSERT ON audit_events
BEGIN
  INSERT INTO audit_heads (shard, seq, hash) VALUES (NEW.shard, NEW.seq, NEW.hash)
  ON CONFLICT (shard) DO UPDATE SET seq = excluded.seq, hash = excluded.hash;
END;

-- The last row that was deleted because of its age: the chain is checked from there.
ALTER TABLE audit_heads ADD COLUMN pruned_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit_heads ADD COLUMN pruned_hash TEXT;
