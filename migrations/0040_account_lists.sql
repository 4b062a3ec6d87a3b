-- What an account's own lists have of the shared catalog of its server, where they lack some of it. Null: nothing is known, or nothing is lacking.
ALTER TABLE accounts ADD COLUMN own_lists TEXT;
-- The hash of the catalog that they were compared with, and when.
ALTER TABLE accounts ADD COLUMN own_lists_of TEXT;
ALTER TABLE accounts ADD COLUMN own_lists_at INTEGER;
