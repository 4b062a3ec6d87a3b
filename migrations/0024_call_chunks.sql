-- Ended calls, many in one chunk, as the isolates handed them over. Sealed into a chain every few minutes.
CREATE TABLE call_chunks (
  id TEXT PRIMARY KEY,
  from_at INTEGER NOT NULL,
  to_at INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  keys TEXT NOT NULL,
  hash TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Where the chain of the chunks was sealed: up to which chunk, how many those are, and the hash over all of them.
CREATE TABLE call_seals (
  seq INTEGER PRIMARY KEY,
  chunk_id TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
