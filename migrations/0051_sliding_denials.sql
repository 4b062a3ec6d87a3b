-- Denied calls are counted by the minute, so that those of any ten minutes count together, and not those of the clock's ten minutes. This
-- replaces webhook_denials, which a later contraction removes.
CREATE TABLE webhook_denied_minutes (
  principal_id TEXT NOT NULL,
  minute INTEGER NOT NULL,
  denied INTEGER NOT NULL,
  PRIMARY KEY (principal_id, minute)
) STRICT, WITHOUT ROWID;

-- One event for each webhook and principal in ten minutes.
DROP TRIGGER webhook_denials_rate;
CREATE TRIGGER webhook_denials_rate AFTER UPDATE OF denied ON webhook_denied_minutes
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, cause, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'denials.rate', NEW.principal_id, 'denied ' || NEW.principal_id || ' ' || NEW.minute,
    json_object('principal', json_object('id', NEW.principal_id, 'name',
        coalesce((SELECT name FROM principals WHERE id = NEW.principal_id), NEW.principal_id)),
      'denied', t.denied, 'minutes', 10), t.now, t.now, t.now + 86400000
  FROM webhooks AS w, (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now, sum(denied) AS denied
    FROM webhook_denied_minutes WHERE principal_id = NEW.principal_id AND minute > NEW.minute - 10) AS t
  WHERE w.is_enabled = 1 AND t.denied > w.denials_over
    AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'denials.rate')
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d
      WHERE d.cause > 'denied ' || NEW.principal_id || ' ' || (NEW.minute - 10)
        AND d.cause <= 'denied ' || NEW.principal_id || ' ' || NEW.minute AND d.webhook_id = w.id);
END;

DROP TRIGGER webhook_denials_first;
CREATE TRIGGER webhook_denials_first AFTER INSERT ON usage
WHEN NEW.denied > 0 AND EXISTS (SELECT 1 FROM webhooks, json_each(events) WHERE is_enabled = 1 AND value = 'denials.rate')
BEGIN
  DELETE FROM webhook_denied_minutes WHERE minute <= unixepoch() / 60 - 10;
  INSERT INTO webhook_denied_minutes VALUES (NEW.principal_id, unixepoch() / 60, 0) ON CONFLICT DO NOTHING;
  UPDATE webhook_denied_minutes SET denied = denied + NEW.denied
  WHERE principal_id = NEW.principal_id AND minute = unixepoch() / 60;
END;

DROP TRIGGER webhook_denials_more;
CREATE TRIGGER webhook_denials_more AFTER UPDATE OF denied ON usage
WHEN NEW.denied > OLD.denied AND EXISTS (SELECT 1 FROM webhooks, json_each(events) WHERE is_enabled = 1 AND value = 'denials.rate')
BEGIN
  DELETE FROM webhook_denied_minutes WHERE minute <= unixepoch() / 60 - 10;
  INSERT INTO webhook_denied_minutes VALUES (NEW.principal_id, unixepoch() / 60, 0) ON CONFLICT DO NOTHING;
  UPDATE webhook_denied_minutes SET denied = denied + NEW.denied - OLD.denied
  WHERE principal_id = NEW.principal_id AND minute = unixepoch() / 60;
END;
