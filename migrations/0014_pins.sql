-- Pins: what of each server's tool definitions and instructions is approved, and what is held until an administrator decides. A server
-- says how its own are approved; its stamp is another after each write of its pins, so that a writer sees what others did meanwhile.
ALTER TABLE servers ADD COLUMN tool_approval TEXT CHECK (tool_approval IN ('first', 'hold', 'trust'));
ALTER TABLE servers ADD COLUMN pins_stamp TEXT;
ALTER TABLE servers ADD COLUMN held_tools INTEGER NOT NULL DEFAULT 0;

CREATE TABLE pins (
  id TEXT PRIMARY KEY,
  server_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('tool', 'instructions')),
  name TEXT NOT NULL,
  skeleton TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('approved', 'pending', 'changed', 'quarantined', 'rejected', 'removed')),
  approved_fingerprint TEXT,
  approved_text TEXT,
  held_fingerprint TEXT,
  held_text TEXT,
  rejected_fingerprint TEXT,
  reason TEXT,
  first_seen_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX pins_server ON pins (server_id);
CREATE INDEX pins_skeleton ON pins (skeleton) WHERE approved_fingerprint IS NOT NULL;
CREATE INDEX pins_changed ON pins (changed_at DESC, id);

CREATE TRIGGER pins_of_deleted AFTER DELETE ON servers
BEGIN
  DELETE FROM pins WHERE server_id = OLD.id;
END;
