/** The `sign_ins` table. Only the HMAC of a cookie is stored. Reads return parsed rows; writes return statements. */
import { z } from 'zod';
import type { Condition } from '../audit/audit-store.ts';
import { jsonOf } from '../records/record-schema.ts';
import type { RecordTable } from '../records/record-store.ts';
import {
  type Actor,
  boundScopes,
  MEMBER_SCOPES,
  ScopeSchema,
} from '../shared/identity/principal.ts';
import { SignInSchema, type SignIn } from './sign-in-schema.ts';
import type { SignedIn } from './signed-in.ts';

/** Maximum number of sign-ins of a principal by one token, and without a token; beyond it the oldest end. */
const MAX_OF_TOKEN = 50;

export const SIGN_INS: RecordTable<SignIn> = {
  name: 'sign_ins',
  source: `(SELECT s.*, p.name AS principal_name FROM sign_ins AS s JOIN principals AS p ON p.id = s.principal_id
    WHERE s.expires_at > unixepoch('subsec') * 1000)`,
  row: SignInSchema,
  computed: ['principal_name'],
};

/**
 * Condition on rows of sign-ins or passkeys: they came from the caller's credential. For a token, those that came from that token; for a
 * sign-in without a token, all of the principal's rows without a token.
 */
export const whereOwn = ({ principalId, tokenId }: Actor): Condition => ({
  sql: `principal_id = ? AND (token_id = ? OR (token_id IS NULL AND EXISTS
    (SELECT 1 FROM sign_ins AS asker WHERE asker.id = ? AND asker.principal_id = ? AND asker.token_id IS NULL)))`,
  params: [principalId, tokenId, tokenId, principalId],
});

const Names = jsonOf(z.array(z.string())).nullable();
const Scopes = jsonOf(z.array(ScopeSchema)).nullable();

const SignedInRowSchema = z.object({
  id: z.string(),
  principal_id: z.string(),
  name: z.string(),
  principal_scopes: Scopes,
  token_id: z.string().nullable(),
  identity_id: z.string().nullable(),
  passkey_id: z.string().nullable(),
  scopes: Scopes,
  servers: Names,
  tools: Names,
  toolsets: Names,
  grants_until: z.number().nullable(),
});

/**
 * Finds who is signed in with a cookie that has one of these HMACs, with the current state of principal and token.
 * @param now milliseconds since the epoch
 */
export async function findSignedIn(
  db: D1Database,
  hmacs: readonly string[],
  now: number,
): Promise<SignedIn | undefined> {
  const found = await db
    .prepare(
      `SELECT s.id, s.principal_id, p.name, p.scopes AS principal_scopes, s.token_id, s.identity_id, s.passkey_id,
         t.scopes, t.servers, t.tools, t.toolsets, coalesce(t.expires_at, i.expires_at) AS grants_until
       FROM sign_ins AS s JOIN principals AS p ON p.id = s.principal_id LEFT JOIN tokens AS t ON t.id = s.token_id
         LEFT JOIN identities AS i ON i.id = s.identity_id
       WHERE s.hmac IN (${hmacs.map(() => '?').join(', ')}) AND s.expires_at > ?
         AND (s.token_id IS NULL OR (t.id IS NOT NULL AND coalesce(t.expires_at, s.expires_at) > ?))
         AND (s.identity_id IS NULL OR i.expires_at > ?)`,
    )
    .bind(...hmacs, now, now, now)
    .first();
  if (found === null) return undefined;
  const row = SignedInRowSchema.parse(found);
  return {
    id: row.id,
    principalId: row.principal_id,
    name: row.name,
    scopes: boundScopes(row.scopes ?? row.principal_scopes ?? MEMBER_SCOPES, row.principal_scopes),
    servers: row.servers,
    tools: row.tools,
    toolsets: row.toolsets,
    tokenId: row.token_id,
    identityId: row.identity_id,
    passkeyId: row.passkey_id,
    grantsUntil: row.grants_until,
  };
}

const TokenSchema = z.object({
  id: z.string(),
  principal_id: z.string(),
  hmac: z.string(),
  name: z.string(),
});

/**
 * Finds the token that has one of these HMACs and may sign a person in. Tokens of grants, rotated values and expired tokens may not.
 * @param now milliseconds since the epoch
 */
export async function findSigningToken(
  db: D1Database,
  hmacs: readonly string[],
  now: number,
): Promise<z.infer<typeof TokenSchema> | undefined> {
  const found = await db
    .prepare(
      `SELECT t.id, t.principal_id, t.hmac, p.name FROM tokens AS t JOIN principals AS p ON p.id = t.principal_id
       WHERE t.hmac IN (${hmacs.map(() => '?').join(', ')}) AND t.grant_id IS NULL AND t.former_of IS NULL
         AND (t.expires_at IS NULL OR t.expires_at > ?)`,
    )
    .bind(...hmacs, now)
    .first();
  return found === null ? undefined : TokenSchema.parse(found);
}

/** Deletes expired sign-ins, and a principal's oldest ones by the same token beyond the limit: a weak token ends none of a strong one. */
export function sweepSignIns(
  db: D1Database,
  { principal_id: principalId, token_id: tokenId }: Pick<SignIn, 'principal_id' | 'token_id'>,
  now: number,
): D1PreparedStatement[] {
  return [
    db.prepare('DELETE FROM sign_ins WHERE expires_at <= ?').bind(now),
    db
      .prepare(
        `DELETE FROM sign_ins WHERE id IN (SELECT id FROM sign_ins WHERE principal_id = ? AND token_id IS ?
         ORDER BY created_at DESC, id LIMIT -1 OFFSET ?)`,
      )
      .bind(principalId, tokenId, MAX_OF_TOKEN),
  ];
}
