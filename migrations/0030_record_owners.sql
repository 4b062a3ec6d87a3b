-- Who keeps a record where that is not people: a file of configuration, and what the file calls the record.
CREATE TABLE record_owners (
  kind TEXT NOT NULL,
  record_id TEXT NOT NULL,
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (kind, record_id),
  UNIQUE (owner, kind, key)
) STRICT, WITHOUT ROWID;
