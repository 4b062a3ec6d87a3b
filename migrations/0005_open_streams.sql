-- Objects whose clients have a stream open, or may come back to one: who is told of changes.
CREATE TABLE open_streams (
  owner TEXT PRIMARY KEY,
  opened_at INTEGER NOT NULL
) STRICT;
