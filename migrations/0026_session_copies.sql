-- Copies of what a legacy client has at upstreams, sealed: an isolate that remembers none gets them with the session.
ALTER TABLE sessions ADD COLUMN upstream_sessions TEXT;
