-- An open circuit: until this time, and until the server's monitor has heard the server again, no call is sent to it.
ALTER TABLE servers ADD COLUMN circuit_retry_at INTEGER;
