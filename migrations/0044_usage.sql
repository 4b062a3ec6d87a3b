-- What was called in a day (UTC), by whom, of which tool: sums of the rows of calls, made when their chunks are final.
CREATE TABLE usage (
  day TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  action TEXT NOT NULL,
  server_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  server TEXT NOT NULL,
  calls INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  denied INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  unknown INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  argument_chars INTEGER NOT NULL,
  result_chars INTEGER NOT NULL,
  timed INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  max_ms INTEGER NOT NULL,
  to_100 INTEGER NOT NULL,
  to_250 INTEGER NOT NULL,
  to_500 INTEGER NOT NULL,
  to_1000 INTEGER NOT NULL,
  to_2500 INTEGER NOT NULL,
  to_5000 INTEGER NOT NULL,
  to_10000 INTEGER NOT NULL,
  to_30000 INTEGER NOT NULL,
  PRIMARY KEY (day, principal_id, token_id, action, server_id, tool)
) STRICT, WITHOUT ROWID;

-- The last chunk that is in the sums.
CREATE TABLE usage_progress (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  chunk_id TEXT NOT NULL
) STRICT;
INSERT INTO usage_progress VALUES (1, '');

-- Calls in the sums that had not ended when they were stored.
CREATE TABLE usage_open (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_open_at ON usage_open (at);
