-- What a language model failed with last, by day and purpose: what waits for it, or goes on without it, says so nowhere else.
ALTER TABLE llm_usage ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE llm_usage ADD COLUMN last_problem TEXT;
ALTER TABLE llm_usage ADD COLUMN last_failed_at INTEGER;
