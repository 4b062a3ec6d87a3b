-- A token that somebody made in a sign-in by a passkey names the passkey (`made_by`) and ends with it, and so with what the passkey itself
-- ends with. Passkeys of such tokens are deleted here, since one that goes with a token's passkey does not fire that token's trigger again.
CREATE TRIGGER tokens_of_deleted_passkey AFTER DELETE ON passkeys
BEGIN
  DELETE FROM passkeys WHERE token_id IN (SELECT id FROM tokens WHERE made_by = OLD.id);
  DELETE FROM tokens WHERE made_by = OLD.id;
END;

-- The `+` keeps the index of former values unused: nearly every token has none.
DROP TRIGGER tokens_of_renewed_identity;
CREATE TRIGGER tokens_of_renewed_identity AFTER UPDATE OF expires_at ON identities
BEGIN
  UPDATE tokens SET expires_at = min(coalesce(asked_until, NEW.expires_at), NEW.expires_at)
  WHERE made_by IN (SELECT NEW.id UNION ALL SELECT id FROM passkeys WHERE identity_id = NEW.id) AND +former_of IS NULL;
END;
