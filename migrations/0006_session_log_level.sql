-- The level a legacy client set with `logging/setLevel`; null where it never did.
ALTER TABLE sessions ADD COLUMN log_level TEXT;
