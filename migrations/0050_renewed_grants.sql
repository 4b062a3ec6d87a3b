-- Who signs in again keeps what they allowed programs: until 30 days (LIFE.refresh) after its last use, within the new end of the identity.
-- Before, only `ends_at` moved, and a program that was idle over the former end lost its grant. Codes that were not redeemed and grants
-- from assertions, which have no refresh token, keep their end.
DROP TRIGGER grants_of_renewed_identity;
CREATE TRIGGER grants_of_renewed_identity AFTER UPDATE OF expires_at ON identities
BEGIN
  UPDATE oauth_grants SET ends_at = NEW.expires_at,
    expires_at = CASE WHEN redeemed_at IS NULL OR code_hmac IS NULL THEN expires_at
      ELSE min(coalesce(last_used_at, redeemed_at) + 2592000000, NEW.expires_at) END
  WHERE identity_id = NEW.id;
END;
