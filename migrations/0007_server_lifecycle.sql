-- Edits and lifecycle. `revision` counts edits and is the ETag; `generation` counts connects, disconnects and edits of where or how a
-- server is reached, so that what was found before such an act is not written after it.
ALTER TABLE servers ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE servers ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
ALTER TABLE servers ADD COLUMN disconnected_at INTEGER;
ALTER TABLE servers ADD COLUMN health_settings TEXT;

-- Whatever writes, a disconnected server comes back by being connected only.
CREATE TRIGGER servers_status_legal BEFORE UPDATE OF status ON servers
WHEN OLD.status = 'DISCONNECTED' AND NEW.status NOT IN ('DISCONNECTED', 'CONNECTING')
BEGIN
  SELECT RAISE(ABORT, 'a disconnected server can only be connected');
END;
