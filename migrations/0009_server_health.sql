-- The last word on the health of each server, for lists and metrics. No trigger is on it, so that checks do not move the registry's
-- revision; the history is in the server's monitor.
CREATE TABLE server_health (
  server_id TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('healthy', 'degraded', 'failing', 'auth_required', 'down')),
  reason TEXT,
  checked_at INTEGER NOT NULL,
  response_time_ms REAL,
  error_rate REAL,
  consecutive_failures INTEGER NOT NULL,
  last_good_at INTEGER,
  calls_total INTEGER NOT NULL,
  errors_total INTEGER NOT NULL
) STRICT;
