-- Webhooks that are told of somebody who is denied too often: how many calls more than which are too many within ten minutes, and how many
-- there were. Calls are counted when they are added up, in the same statement.
ALTER TABLE webhooks ADD COLUMN denials_over INTEGER NOT NULL DEFAULT 20;

CREATE TABLE webhook_denials (
  principal_id TEXT PRIMARY KEY,
  slot INTEGER NOT NULL,
  denied INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One event for each webhook and ten minutes. What is counted is what came since the row of usage was written before.
CREATE TRIGGER webhook_denials_rate AFTER UPDATE OF denied ON webhook_denials
WHEN NEW.denied > 0
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, cause, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'denials.rate', NEW.principal_id, 'denied ' || NEW.principal_id || ' ' || NEW.slot,
    json_object('principal', json_object('id', NEW.principal_id, 'name',
        coalesce((SELECT name FROM principals WHERE id = NEW.principal_id), NEW.principal_id)),
      'denied', NEW.denied, 'minutes', 10), t.now, t.now, t.now + 86400000
  FROM webhooks AS w, (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now) AS t
  WHERE w.is_enabled = 1 AND NEW.denied > w.denials_over
    AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'denials.rate')
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d
      WHERE d.cause = 'denied ' || NEW.principal_id || ' ' || NEW.slot AND d.webhook_id = w.id);
END;

CREATE TRIGGER webhook_denials_first AFTER INSERT ON usage
WHEN NEW.denied > 0 AND EXISTS (SELECT 1 FROM webhooks, json_each(events) WHERE is_enabled = 1 AND value = 'denials.rate')
BEGIN
  DELETE FROM webhook_denials WHERE slot < unixepoch() / 600;
  INSERT INTO webhook_denials VALUES (NEW.principal_id, unixepoch() / 600, 0) ON CONFLICT DO NOTHING;
  UPDATE webhook_denials SET denied = denied + NEW.denied WHERE principal_id = NEW.principal_id;
END;

CREATE TRIGGER webhook_denials_more AFTER UPDATE OF denied ON usage
WHEN NEW.denied > OLD.denied AND EXISTS (SELECT 1 FROM webhooks, json_each(events) WHERE is_enabled = 1 AND value = 'denials.rate')
BEGIN
  DELETE FROM webhook_denials WHERE slot < unixepoch() / 600;
  INSERT INTO webhook_denials VALUES (NEW.principal_id, unixepoch() / 600, 0) ON CONFLICT DO NOTHING;
  UPDATE webhook_denials SET denied = denied + NEW.denied - OLD.denied WHERE principal_id = NEW.principal_id;
END;
