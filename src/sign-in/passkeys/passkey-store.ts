/** The `passkeys` table. Reads return parsed rows; writes return statements. */
import type { Condition } from '../../audit/audit-store.ts';
import type { RecordTable } from '../../records/record-store.ts';
import type { SignedIn } from '../signed-in.ts';
import { MAX_PASSKEYS, PasskeySchema, type Passkey } from './passkey-schema.ts';

const SHOWN = `(SELECT k.*, p.name AS principal_name FROM passkeys AS k JOIN principals AS p ON p.id = k.principal_id)`;

export const PASSKEYS: RecordTable<Passkey> = {
  name: 'passkeys',
  source: SHOWN,
  row: PasskeySchema,
  computed: ['principal_name'],
};

/**
 * Condition: its owner is still signed in, nobody has registered it, and the limit is not reached. Each token's passkeys count by
 * themselves, so that a weak one locks out nobody.
 */
export const whenNew = (
  { credential_id: credentialId, token_id: tokenId }: Passkey,
  { id, principalId }: SignedIn,
): Condition => ({
  sql: `EXISTS (SELECT 1 FROM sign_ins WHERE id = ? AND principal_id = ?)
    AND NOT EXISTS (SELECT 1 FROM passkeys WHERE credential_id = ?)
    AND (SELECT count(*) FROM passkeys WHERE principal_id = ? AND token_id IS ?) < ${MAX_PASSKEYS}`,
  params: [id, principalId, credentialId, principalId, tokenId],
});

/** Finds a passkey by the authenticator's credential id. */
export async function findByCredential(
  db: D1Database,
  credentialId: string,
): Promise<Passkey | undefined> {
  const found = await db
    .prepare(`SELECT * FROM ${SHOWN} WHERE credential_id = ?`)
    .bind(credentialId)
    .first();
  return found === null ? undefined : PasskeySchema.parse(found);
}

/** Lists the passkeys for which a condition holds, oldest first. */
export async function listPasskeys(db: D1Database, { sql, params }: Condition): Promise<Passkey[]> {
  const { results } = await db
    .prepare(`SELECT * FROM ${SHOWN} WHERE ${sql} ORDER BY created_at, id`)
    .bind(...params)
    .all();
  return results.map(row => PasskeySchema.parse(row));
}

/** The sign-in response of a passkey. */
export interface Use {
  /** Creation time of its challenge, and the current time; milliseconds since the epoch. */
  challengedAt: number;
  now: number;
  counter: number;
}

/**
 * Condition: the passkey may sign in with this response. The token or identity it was registered under is still valid, its last answered
 * challenge is older than this one, and its counter increases, if it counts.
 */
export const whenUsable = ({ id }: Passkey, { challengedAt, counter, now }: Use): Condition => ({
  sql: `EXISTS (SELECT 1 FROM passkeys AS k LEFT JOIN tokens AS t ON t.id = k.token_id LEFT JOIN identities AS i ON i.id = k.identity_id
    WHERE k.id = ? AND k.challenged_at < ? AND (k.counter < ? OR (k.counter = 0 AND ? = 0))
      AND (k.token_id IS NULL OR (t.id IS NOT NULL AND coalesce(t.expires_at > ?, 1)))
      AND (k.identity_id IS NULL OR i.expires_at > ?))`,
  params: [id, challengedAt, counter, counter, now, now],
});

/** Records a sign-in with the passkey, if it is usable. */
export function noteUse(db: D1Database, passkey: Passkey, use: Use): D1PreparedStatement {
  const when = whenUsable(passkey, use);
  return db
    .prepare(
      `UPDATE passkeys SET counter = ?, challenged_at = ?, last_used_at = ? WHERE id = ? AND ${when.sql}`,
    )
    .bind(use.counter, use.challengedAt, use.now, passkey.id, ...when.params);
}

/** Condition: the passkey exists and belongs to this principal. */
export const whenOf = (id: string, principalId: string): Condition => ({
  sql: 'EXISTS (SELECT 1 FROM passkeys WHERE id = ? AND principal_id = ?)',
  params: [id, principalId],
});
