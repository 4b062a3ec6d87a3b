-- When a connector got its device token, if that is not its first: a machine that came with an earlier one is sent away.
ALTER TABLE connectors ADD COLUMN rotated_at INTEGER NOT NULL DEFAULT 0;
