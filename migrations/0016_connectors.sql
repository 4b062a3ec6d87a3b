-- Programs that dial out from a machine and offer its stdio servers; and which servers are reached through one.
CREATE TABLE connectors (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  hmac TEXT NOT NULL UNIQUE,
  key_id TEXT NOT NULL,
  is_connected INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER
) STRICT;

ALTER TABLE servers ADD COLUMN connector_id TEXT;
ALTER TABLE servers ADD COLUMN connector_server TEXT;
CREATE UNIQUE INDEX servers_connector ON servers (connector_id, connector_server) WHERE connector_id IS NOT NULL;
