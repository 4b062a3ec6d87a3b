/**
 * The `tokens` table. A token's value is never stored, only its HMAC. A rotated-away value that still works has a row of its own. Reads
 * return parsed rows; writes return statements.
 */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import type { SchemaAge } from '../../shared/util/either-schema.ts';
import { jsonOf } from '../../records/record-schema.ts';
import { HELD_ACCOUNT_SQL, HeldAccountSchema } from '../../shared/identity/account.ts';
import {
  boundScopes,
  ScopeSchema,
  type StoredToken,
  type Token,
} from '../../shared/identity/principal.ts';

const Names = jsonOf(z.array(z.string()));
const Scopes = jsonOf(z.array(ScopeSchema));

/** A row with {@link TOKEN_COLUMNS}. */
export const TokenRowSchema = z.object({
  id: z.string(),
  principal_id: z.string(),
  name: z.string(),
  servers: Names.nullable(),
  tools: Names.nullable(),
  toolsets: Names.nullable(),
  scopes: Scopes,
  created_at: z.number(),
  expires_at: z.number().nullable(),
  last_used_at: z.number().nullable(),
  principal_groups: Names,
  claimed_groups: jsonOf(z.array(z.array(z.string()))),
  principal_scopes: Scopes.nullable(),
  audience: z.string().nullable(),
  /** Only where the token is read to be used. */
  accounts: jsonOf(z.array(HeldAccountSchema)).optional(),
  /** Only of a sign-in. */
  passkey_id: z.string().nullish(),
});

/** Converts a row to a token. */
export const toToken = (row: z.infer<typeof TokenRowSchema>): Token => ({
  id: row.id,
  principalId: row.principal_id,
  name: row.name,
  servers: row.servers,
  tools: row.tools,
  toolsets: row.toolsets,
  grantedScopes: row.scopes,
  scopes: boundScopes(row.scopes, row.principal_scopes),
  groups: [...new Set([...row.principal_groups, ...row.claimed_groups.flat()])],
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
  audience: row.audience,
  accounts: row.accounts ?? [],
  passkeyId: row.passkey_id ?? undefined,
});

/** JSON list of the group lists that a principal gets from its identities, for {@link TOKEN_SOURCE}; reads no row where it has none. */
export const CLAIMED_GROUPS = `(SELECT json_group_array(json(groups)) FROM identities
    WHERE principal_id = p.id AND expires_at > unixepoch('subsec') * 1000)`;

const KeySchema = z.object({ hmac: z.string(), key_id: z.string().nullable() });

const COMMON_COLUMNS = `t.principal_id, t.name, t.servers, t.tools, t.toolsets, t.scopes, t.created_at, t.expires_at,
    p.groups AS principal_groups, p.scopes AS principal_scopes`;

/** JSON list of the accounts that a principal has at servers. */
export const ACCOUNTS: Readonly<Record<SchemaAge, string>> = {
  this: `(SELECT json_group_array(${HELD_ACCOUNT_SQL})
    FROM accounts AS a LEFT JOIN account_grants AS g ON g.account_id = a.id WHERE a.principal_id = p.id)`,
  last: "'[]'",
};

/** Columns of a token, for {@link TOKEN_SOURCE}. A rotated-away value stands for its token, an access token for its grant. */
export const TOKEN_COLUMNS: Readonly<Record<SchemaAge, string>> = {
  this: `coalesce(t.grant_id, t.former_of, t.id) AS id, t.audience, ${COMMON_COLUMNS}, ${CLAIMED_GROUPS} AS claimed_groups,
    coalesce((SELECT last_used_at FROM tokens WHERE id = t.former_of),
      (SELECT last_used_at FROM oauth_grants WHERE id = t.grant_id), t.last_used_at) AS last_used_at`,
  last: `coalesce(t.former_of, t.id) AS id, NULL AS audience, ${COMMON_COLUMNS}, '[]' AS claimed_groups,
    coalesce((SELECT last_used_at FROM tokens WHERE id = t.former_of), t.last_used_at) AS last_used_at`,
};
export const TOKEN_SOURCE = 'FROM tokens AS t JOIN principals AS p ON p.id = t.principal_id';

/**
 * Shortest time between two writes of a token's last use, in milliseconds: each costs a row write, even for tokens that are rarely used.
 */
export const TOUCH_MS = 300_000;

/**
 * Selects the unexpired token with one of these HMACs (one for each key of the ring), and the key of its HMAC.
 * @param now milliseconds since the epoch
 */
export function selectTokenByHmac(
  db: D1Database,
  hmacs: readonly string[],
  now: number,
  age: SchemaAge,
): D1PreparedStatement {
  const marks = hmacs.map(() => '?').join(', ');
  return db
    .prepare(
      `SELECT ${TOKEN_COLUMNS[age]}, ${ACCOUNTS[age]} AS accounts, t.hmac, t.key_id ${TOKEN_SOURCE}
       WHERE t.hmac IN (${marks}) AND (t.expires_at IS NULL OR t.expires_at > ?)`,
    )
    .bind(...hmacs, now);
}

/** Returns the first row as a token, or undefined. */
export function parseToken(rows: readonly unknown[]): Token | undefined {
  return rows.length === 0 ? undefined : toToken(TokenRowSchema.parse(rows[0]));
}

/** Moves a token that was found by another key's HMAC to the active key; undefined where it is there already. */
export function moveToken(
  db: D1Database,
  rows: readonly unknown[],
  hmac: string,
  keyId: string,
): D1PreparedStatement | undefined {
  const found = rows.length === 0 ? undefined : KeySchema.parse(rows[0]);
  if (!found || found.key_id === keyId) return undefined;
  return db
    .prepare('UPDATE tokens SET hmac = ?, key_id = ? WHERE hmac = ?')
    .bind(hmac, keyId, found.hmac);
}

/** Notes the use of a token, or of a grant; writes nothing where that was noted less than `TOUCH_MS` ago. */
export function touchToken(
  db: D1Database,
  { id, audience }: Pick<Token, 'id' | 'audience'>,
  now: number,
): D1PreparedStatement {
  const table = audience === null ? 'tokens' : 'oauth_grants';
  return db
    .prepare(
      `UPDATE ${table} SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at <= ?1 - ?3)`,
    )
    .bind(now, id, TOUCH_MS);
}

/** The stored form of a token's value, and the key that its HMAC was made with. */
export interface TokenValue {
  hmac: string;
  keyId: string | null;
}

/** For a token that a person made for their own clients: what it ends with, the end that they asked for, and the condition for it. */
export interface MadeBy {
  madeBy: string;
  requestedUntil: number | null;
  when: Condition;
}

/** Inserts a token where its principal exists. @param own for a token that a person made for themselves */
export function insertToken(
  db: D1Database,
  token: StoredToken,
  { hmac, keyId }: TokenValue,
  own?: MadeBy,
): D1PreparedStatement {
  const toText = (items: readonly string[] | null) =>
    items === null ? null : JSON.stringify(items);
  // The last release lacks these columns.
  const [columns, marks] = own ? [', made_by, asked_until', ', ?, ?'] : ['', ''];
  return db
    .prepare(
      `INSERT INTO tokens (id, name, hmac, key_id, servers, tools, toolsets, scopes, created_at, expires_at${columns}, principal_id)
       SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?${marks}, id FROM principals WHERE id = ?${own ? ` AND ${own.when.sql}` : ''}`,
    )
    .bind(
      token.id,
      token.name,
      hmac,
      keyId,
      toText(token.servers),
      toText(token.tools),
      toText(token.toolsets),
      toText(token.grantedScopes),
      token.createdAt,
      token.expiresAt,
      ...(own ? [own.madeBy, own.requestedUntil] : []),
      token.principalId,
      ...(own?.when.params ?? []),
    );
}

/** Returns the current value of a token, or undefined. */
export async function findTokenValue(db: D1Database, id: string): Promise<TokenValue | undefined> {
  const row = await db
    .prepare('SELECT hmac, key_id FROM tokens WHERE id = ? AND former_of IS NULL')
    .bind(id)
    .first();
  if (row === null) return undefined;
  const { hmac, key_id: keyId } = KeySchema.parse(row);
  return { hmac, keyId };
}

/**
 * Gives a token another value in place of its current one. Ends the sign-ins by that token, what was allowed to clients through it since,
 * and the tokens made with it.
 * @param former where the previous value keeps working: the id of its row, and until when
 */
export function rotateToken(
  db: D1Database,
  id: string,
  from: TokenValue,
  to: TokenValue,
  former: { id: string; expiresAt: number } | undefined,
  age: SchemaAge,
): D1PreparedStatement[] {
  const ending =
    age === 'this'
      ? [
          'DELETE FROM sign_ins WHERE token_id',
          'DELETE FROM oauth_grants WHERE token_id',
          'DELETE FROM passkeys WHERE token_id',
          'DELETE FROM tokens WHERE made_by',
        ]
      : [];
  const statements = [
    ...ending.map(sql =>
      db
        .prepare(`${sql} = ?1 AND EXISTS (SELECT 1 FROM tokens WHERE id = ?1 AND hmac = ?2)`)
        .bind(id, from.hmac),
    ),
    db
      .prepare(
        'DELETE FROM tokens WHERE former_of = ?1 AND EXISTS (SELECT 1 FROM tokens WHERE id = ?1 AND hmac = ?2)',
      )
      .bind(id, from.hmac),
    db
      .prepare('UPDATE tokens SET hmac = ?, key_id = ? WHERE id = ? AND hmac = ?')
      .bind(to.hmac, to.keyId, id, from.hmac),
  ];
  if (!former) return statements;
  const maker = age === 'this' ? ', made_by' : '';
  const keep = db
    .prepare(
      `INSERT INTO tokens (id, principal_id, name, hmac, key_id, servers, tools, toolsets, scopes, created_at, expires_at, former_of${maker})
       SELECT ?1, principal_id, name, ?2, ?3, servers, tools, toolsets, scopes, created_at,
         min(coalesce(expires_at, ?4), ?4), id${maker} FROM tokens WHERE id = ?5 AND hmac = ?6`,
    )
    .bind(former.id, from.hmac, from.keyId, former.expiresAt, id, to.hmac);
  return [...statements, keep];
}

/** Deletes the rows of rotated-away values that no longer work. */
export function sweepFormer(db: D1Database, now: number): D1PreparedStatement {
  return db.prepare('DELETE FROM tokens WHERE former_of IS NOT NULL AND expires_at <= ?').bind(now);
}

/** Condition: the token still has this value. */
export function whenTokenValue(id: string, { hmac }: TokenValue): Condition {
  return { sql: 'EXISTS (SELECT 1 FROM tokens WHERE id = ? AND hmac = ?)', params: [id, hmac] };
}
