/**
 * The `tokens` and `principals` tables. A token's value is never stored, only its HMAC.
 * Reads return parsed rows; writes return statements.
 */
import { z } from 'zod';
import { ScopeSchema, type Token } from './token.ts';

const RowSchema = z
  .object({
    id: z.string(),
    principal_id: z.string(),
    name: z.string(),
    servers: z.string().nullable(),
    scopes: z.string(),
    created_at: z.number(),
  })
  .transform((row): Token => ({
    id: row.id,
    principalId: row.principal_id,
    name: row.name,
    servers: row.servers === null ? null : z.array(z.string()).parse(JSON.parse(row.servers)),
    scopes: z.array(ScopeSchema).parse(JSON.parse(row.scopes)),
    createdAt: row.created_at,
  }));

const COLUMNS = 'id, principal_id, name, servers, scopes, created_at';

/** The token with one of these HMACs (one for each key of the ring). */
export function selectTokenByHmac(db: D1Database, hmacs: readonly string[]): D1PreparedStatement {
  const marks = hmacs.map(() => '?').join(', ');
  return db.prepare(`SELECT ${COLUMNS} FROM tokens WHERE hmac IN (${marks})`).bind(...hmacs);
}

/** The first row as a token, or undefined. */
export function parseToken(rows: readonly unknown[]): Token | undefined {
  return rows.length === 0 ? undefined : RowSchema.parse(rows[0]);
}

/** All tokens, newest first. */
export async function listTokens(db: D1Database): Promise<Token[]> {
  const { results } = await db
    .prepare(`SELECT ${COLUMNS} FROM tokens ORDER BY created_at DESC, id`)
    .all();
  return results.map(row => RowSchema.parse(row));
}

export function insertPrincipal(
  db: D1Database,
  id: string,
  name: string,
  now: number,
): D1PreparedStatement {
  return db
    .prepare('INSERT INTO principals (id, name, created_at) VALUES (?, ?, ?)')
    .bind(id, name, now);
}

export function insertToken(db: D1Database, token: Token, hmac: string): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO tokens (id, principal_id, name, hmac, servers, scopes, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    .bind(
      token.id,
      token.principalId,
      token.name,
      hmac,
      token.servers === null ? null : JSON.stringify(token.servers),
      JSON.stringify(token.scopes),
      token.createdAt,
    );
}

export function deleteToken(db: D1Database, id: string): D1PreparedStatement {
  return db.prepare('DELETE FROM tokens WHERE id = ?').bind(id);
}
