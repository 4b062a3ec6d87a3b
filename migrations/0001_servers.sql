-- The registry: one row per MCP server. `headers_sealed` is ciphertext; `catalog_hash` names the
-- immutable KV value with the server's current catalog.
CREATE TABLE servers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  description TEXT NOT NULL DEFAULT '',
  transport_type TEXT NOT NULL CHECK (transport_type IN ('HTTP', 'SSE')),
  url TEXT NOT NULL,
  headers_sealed TEXT,
  health_check_url TEXT,
  auto_connect INTEGER NOT NULL DEFAULT 1,
  status TEXT NOT NULL CHECK (status IN ('CONNECTING', 'CONNECTED', 'DEGRADED', 'DISCONNECTED', 'ERROR')),
  last_error TEXT,
  verdict TEXT,
  catalog_hash TEXT,
  tool_count INTEGER NOT NULL DEFAULT 0,
  registered_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
