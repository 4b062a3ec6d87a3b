-- Webhooks are told of a server that wants a valid credential, and that it answers again. Such a server is there, so its status is DEGRADED
-- as with other trouble; its health has the word. Where people have accounts of their own, the deployment needs no credential.
CREATE TRIGGER webhook_server_auth_first AFTER INSERT ON server_health
WHEN NEW.state = 'auth_required'
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'server.auth_required', s.id,
    json_object('server', json_object('id', s.id, 'name', s.name), 'status', s.status),
    NEW.checked_at, NEW.checked_at, NEW.checked_at + 86400000
  FROM servers AS s, webhooks AS w
  WHERE s.id = NEW.server_id AND s.accounts <> 'per_principal' AND w.is_enabled = 1
    AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'server.auth_required');
END;

CREATE TRIGGER webhook_server_auth AFTER UPDATE OF state ON server_health
WHEN NEW.state = 'auth_required' AND OLD.state <> 'auth_required'
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'server.auth_required', s.id,
    json_object('server', json_object('id', s.id, 'name', s.name), 'status', s.status),
    NEW.checked_at, NEW.checked_at, NEW.checked_at + 86400000
  FROM servers AS s, webhooks AS w
  WHERE s.id = NEW.server_id AND s.accounts <> 'per_principal' AND w.is_enabled = 1
    AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'server.auth_required');
END;

CREATE TRIGGER webhook_server_auth_over AFTER UPDATE OF state ON server_health
WHEN OLD.state = 'auth_required' AND NEW.state IN ('healthy', 'degraded')
BEGIN
  INSERT INTO webhook_deliveries (webhook_id, type, subject, data, occurred_at, next_at, give_up_at)
  SELECT w.id, 'server.up', s.id,
    json_object('server', json_object('id', s.id, 'name', s.name), 'status', s.status, 'before', 'DEGRADED'),
    NEW.checked_at, NEW.checked_at, NEW.checked_at + 86400000
  FROM servers AS s, webhooks AS w
  WHERE s.id = NEW.server_id AND s.accounts <> 'per_principal' AND w.is_enabled = 1
    AND EXISTS (SELECT 1 FROM json_each(w.events) WHERE value = 'server.up');
END;
