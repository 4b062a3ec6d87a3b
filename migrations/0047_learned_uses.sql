-- Which tools were called after searches with which words, where the deployment learns from use. A word is a keyed digest, so that the table
-- says nobody's words. There is one row for each word, tool and principal, with the last day (UTC, counted since the epoch) it was so.
CREATE TABLE learned_uses (
  approval_id TEXT NOT NULL,
  word TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  PRIMARY KEY (approval_id, word, principal_id)
) STRICT;
CREATE INDEX learned_uses_by_principal ON learned_uses (principal_id, day);
CREATE INDEX learned_uses_by_day ON learned_uses (day);

-- What was learned of a definition ends with it, whoever changes that: a new one begins without use. Servers take their pins along.
CREATE TRIGGER learned_uses_of_changed AFTER UPDATE OF state, approved_fingerprint ON pins
WHEN NEW.state <> 'approved' OR NEW.approved_fingerprint IS NOT OLD.approved_fingerprint
BEGIN
  DELETE FROM learned_uses WHERE approval_id = OLD.id;
END;
CREATE TRIGGER learned_uses_of_deleted AFTER DELETE ON pins
BEGIN
  DELETE FROM learned_uses WHERE approval_id = OLD.id;
END;
CREATE TRIGGER learned_uses_of_principals AFTER DELETE ON principals
BEGIN
  DELETE FROM learned_uses WHERE principal_id = OLD.id;
END;
