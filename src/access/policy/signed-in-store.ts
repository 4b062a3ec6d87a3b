/**
 * Reads a person's sign-in with a browser as if it were a token of theirs: the token or identity that they signed in with bounds what they
 * may do. It is read beside tokens, by the HMAC of a cookie; the room `sign-in` writes it. Reads return rows of {@link TokenRowSchema}.
 */
import type { SchemaAge } from '../../shared/util/either-schema.ts';
import { MEMBER_SCOPES } from '../../shared/identity/principal.ts';
import { ACCOUNTS, CLAIMED_GROUPS } from './token-store.ts';

/** The end of a sign-in, or of the token or identity behind it, whichever is first. */
const EXPIRES =
  'min(s.expires_at, coalesce(t.expires_at, s.expires_at), coalesce(i.expires_at, s.expires_at))';

/**
 * Selects the sign-in with one of these HMACs, where it and the token or identity behind it still exist.
 * @param now milliseconds since the epoch
 */
export function selectSignedIn(
  db: D1Database,
  hmacs: readonly string[],
  now: number,
  age: SchemaAge,
): D1PreparedStatement {
  // With the schema of the last release nobody can be signed in.
  if (age === 'last') return db.prepare('SELECT 1 WHERE 0');
  const marks = hmacs.map(() => '?').join(', ');
  return db
    .prepare(
      `SELECT coalesce(s.token_id, s.id) AS id, NULL AS audience, s.principal_id, s.passkey_id, p.name, t.servers, t.tools, t.toolsets,
         coalesce(t.scopes, p.scopes, ?) AS scopes, s.created_at, ${EXPIRES} AS expires_at, NULL AS last_used_at,
         p.groups AS principal_groups, p.scopes AS principal_scopes, ${CLAIMED_GROUPS} AS claimed_groups,
         ${ACCOUNTS[age]} AS accounts
       FROM sign_ins AS s JOIN principals AS p ON p.id = s.principal_id LEFT JOIN tokens AS t ON t.id = s.token_id
         LEFT JOIN identities AS i ON i.id = s.identity_id
       WHERE s.hmac IN (${marks}) AND ${EXPIRES} > ?
         AND (s.token_id IS NULL OR t.id IS NOT NULL) AND (s.identity_id IS NULL OR i.id IS NOT NULL)`,
    )
    .bind(JSON.stringify(MEMBER_SCOPES), ...hmacs, now);
}
