-- The sessions of a principal are bounded: which of them were used longest ago.
CREATE INDEX sessions_principal ON sessions (principal_id, last_seen_at);
