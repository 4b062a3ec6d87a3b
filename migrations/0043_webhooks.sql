-- Webhooks: where events go (webhooks), and what goes there (webhook_deliveries). A delivery is written by the very statement that is its
-- cause, by triggers, so that no event is lost between the two; nothing is written where no webhook wants it.
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  origin TEXT NOT NULL,
  sealed TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('portico', 'slack')),
  events TEXT NOT NULL,
  is_enabled INTEGER NOT NULL DEFAULT 1,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE webhook_deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE DEFAULT ('msg_' || lower(hex(randomblob(16)))),
  webhook_id TEXT NOT NULL,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  cause TEXT,
  data TEXT NOT NULL,
  occurred_at INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  give_up_at INTEGER NOT NULL,
  status INTEGER,
  problem TEXT,
  ended_at INTEGER
) STRICT;
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, subject, seq) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, seq);
CREATE INDEX webhook_deliveries_by_cause ON webhook_deliveries (cause) WHERE cause IS NOT NULL;

CREATE TRIGGER deliveries_of_deleted_webhook AFTER DELETE ON webhooks
BEGIN
  DELETE FROM webhook_deliveries WHERE webhook_id = OLD.id;
END;

CREATE TRIGGER webhook_server_down AFTER UPDATE OF status ON servers
WHEN NEW.status = 'ERROR' AND OLD.status <> 'ERROR'
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'server.down', NEW.id,
    json_object('server', json_object('id', NEW.id, 'name', NEW.name), 'status', NEW.status, 'before', OLD.status),
    NEW.updated_at, NEW.updated_at, NEW.updated_at + 86400000
  FROM webhooks AS w
  WHERE w.is_enabled = 1 AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'server.down');
END;

CREATE TRIGGER webhook_server_up AFTER UPDATE OF status ON servers
WHEN NEW.status IN ('CONNECTED', 'DEGRADED') AND OLD.status IN ('ERROR', 'CONNECTING')
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'server.up', NEW.id,
    json_object('server', json_object('id', NEW.id, 'name', NEW.name), 'status', NEW.status, 'before', OLD.status),
    NEW.updated_at, NEW.updated_at, NEW.updated_at + 86400000
  FROM webhooks AS w
  WHERE w.is_enabled = 1 AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'server.up');
END;

-- One event for what one judgement of a server held: the first definition makes it, each of the first fifty is named in it.
CREATE TRIGGER webhook_tool_held AFTER INSERT ON pins
WHEN NEW.held_fingerprint IS NOT NULL AND EXISTS (SELECT 1 FROM webhooks WHERE is_enabled = 1)
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, cause, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'tool.held', s.id, 'held ' || s.id || ' ' || s.pins_stamp,
    json_object('server', json_object('id', s.id, 'name', s.name), 'held', s.held_tools, 'tools', json_array()),
    NEW.changed_at, NEW.changed_at, NEW.changed_at + 86400000
  FROM servers AS s, webhooks AS w
  WHERE s.id = NEW.server_id AND w.is_enabled = 1
    AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'tool.held')
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d
      WHERE d.cause = 'held ' || s.id || ' ' || s.pins_stamp AND d.webhook_id = w.id);
  UPDATE webhook_deliveries
  SET data = json_insert(data, '$.tools[#]',
    json_object('kind', NEW.kind, 'name', json(NEW.name), 'state', NEW.state))
  WHERE cause = (SELECT 'held ' || id || ' ' || pins_stamp FROM servers WHERE id = NEW.server_id)
    AND json_array_length(data, '$.tools') < 50;
END;

CREATE TRIGGER webhook_tool_held_anew AFTER UPDATE OF held_fingerprint ON pins
WHEN NEW.held_fingerprint IS NOT NULL AND NEW.held_fingerprint IS NOT OLD.held_fingerprint
  AND EXISTS (SELECT 1 FROM webhooks WHERE is_enabled = 1)
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, cause, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'tool.held', s.id, 'held ' || s.id || ' ' || s.pins_stamp,
    json_object('server', json_object('id', s.id, 'name', s.name), 'held', s.held_tools, 'tools', json_array()),
    NEW.changed_at, NEW.changed_at, NEW.changed_at + 86400000
  FROM servers AS s, webhooks AS w
  WHERE s.id = NEW.server_id AND w.is_enabled = 1
    AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'tool.held')
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d
      WHERE d.cause = 'held ' || s.id || ' ' || s.pins_stamp AND d.webhook_id = w.id);
  UPDATE webhook_deliveries
  SET data = json_insert(data, '$.tools[#]',
    json_object('kind', NEW.kind, 'name', json(NEW.name), 'state', NEW.state))
  WHERE cause = (SELECT 'held ' || id || ' ' || pins_stamp FROM servers WHERE id = NEW.server_id)
    AND json_array_length(data, '$.tools') < 50;
END;

CREATE TRIGGER webhook_sign_in AFTER INSERT ON sign_ins
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'sign_in', p.id,
    json_object('principal', json_object('id', p.id, 'name', p.name), 'sign_in', NEW.id, 'by', CASE
      WHEN NEW.passkey_id IS NOT NULL THEN 'passkey' WHEN NEW.identity_id IS NOT NULL THEN 'provider'
      WHEN NEW.token_id IS NOT NULL THEN 'token' ELSE 'invitation' END),
    NEW.created_at, NEW.created_at, NEW.created_at + 86400000
  FROM principals AS p, webhooks AS w
  WHERE p.id = NEW.principal_id AND w.is_enabled = 1
    AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'sign_in');
END;

-- Only what a person allows waits for a code.
CREATE TRIGGER webhook_program_let_in AFTER INSERT ON oauth_grants
WHEN NEW.code_hmac IS NOT NULL
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'sign_in', p.id,
    json_object('principal', json_object('id', p.id, 'name', p.name), 'grant', NEW.id, 'by', 'program', 'program', NEW.name),
    NEW.created_at, NEW.created_at, NEW.created_at + 86400000
  FROM principals AS p, webhooks AS w
  WHERE p.id = NEW.principal_id AND w.is_enabled = 1
    AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'sign_in');
END;
