-- What an operator allows to be asked for; without an entry nothing is.
CREATE TABLE ask_allowlist (
  id TEXT PRIMARY KEY,
  subject_kind TEXT NOT NULL CHECK (subject_kind IN ('everyone', 'group', 'principal')),
  subject TEXT NOT NULL,
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  side_effects INTEGER NOT NULL,
  description TEXT NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX ask_allowlist_created ON ask_allowlist (created_at DESC, id);
CREATE INDEX ask_allowlist_subject ON ask_allowlist (subject_kind, subject);

CREATE TRIGGER ask_allowlist_of_deleted AFTER DELETE ON servers
BEGIN
  DELETE FROM ask_allowlist WHERE server = OLD.id;
END;

CREATE TRIGGER ask_allowlist_of_principal AFTER DELETE ON principals
BEGIN
  DELETE FROM ask_allowlist WHERE subject_kind = 'principal' AND subject = OLD.id;
END;
