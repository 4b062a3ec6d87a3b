-- Tokens that people make for their own clients: each ends with the token or identity by which its maker was signed in.
ALTER TABLE tokens ADD COLUMN made_by TEXT;
-- The end that was asked for; those of an identity end with it, and go on with it. Null: none was.
ALTER TABLE tokens ADD COLUMN asked_until INTEGER;
CREATE INDEX tokens_by_maker ON tokens (made_by) WHERE made_by IS NOT NULL;

-- What was made so makes nothing, so there is no second level.
CREATE TRIGGER tokens_of_deleted_token AFTER DELETE ON tokens
WHEN OLD.grant_id IS NULL AND OLD.former_of IS NULL
BEGIN
  DELETE FROM tokens WHERE made_by = OLD.id;
END;
CREATE TRIGGER tokens_of_deleted_identity AFTER DELETE ON identities
BEGIN
  DELETE FROM tokens WHERE made_by = OLD.id;
END;
CREATE TRIGGER tokens_of_renewed_identity AFTER UPDATE OF expires_at ON identities
BEGIN
  UPDATE tokens SET expires_at = min(coalesce(asked_until, NEW.expires_at), NEW.expires_at)
  WHERE made_by = NEW.id AND former_of IS NULL;
END;
