-- How many calls a principal, or everybody in a group together, may make in a day (UTC). What is made of a day is counted by an object, which
-- is named by the subject: who deletes a budget and makes it again begins no new day.
CREATE TABLE budgets (
  id TEXT PRIMARY KEY,
  subject_kind TEXT NOT NULL CHECK (subject_kind IN ('group', 'principal')),
  subject TEXT NOT NULL,
  calls_per_day INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (subject_kind, subject)
) STRICT;

CREATE TRIGGER budgets_inserted AFTER INSERT ON budgets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'budget', NEW.id FROM registry_revision;
END;

CREATE TRIGGER budgets_updated AFTER UPDATE ON budgets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'budget', NEW.id FROM registry_revision;
END;

CREATE TRIGGER budgets_deleted AFTER DELETE ON budgets
BEGIN
  UPDATE registry_revision SET revision = revision + 1;
  INSERT INTO registry_changes SELECT revision, 'budget', OLD.id FROM registry_revision;
END;

-- A budget of a principal goes with it, whichever version deletes that.
CREATE TRIGGER budgets_of_principals AFTER DELETE ON principals
BEGIN
  DELETE FROM budgets WHERE subject_kind = 'principal' AND subject = OLD.id;
END;
