/** The `tokens` table as administrators read it; no row of a value that was rotated away stands for itself here. */
import { z } from 'zod';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import type { ShownToken } from './token-schema.ts';
import { TOKEN_COLUMNS, TOKEN_SOURCE, toToken } from '../policy/token-store.ts';

const FormerSchema = z.object({ former_expires_at: z.number().nullable() });
const TotalSchema = z.object({ total: z.number() });

const SELECT_SHOWN = `SELECT ${TOKEN_COLUMNS},
    (SELECT max(expires_at) FROM tokens WHERE former_of = t.id) AS former_expires_at ${TOKEN_SOURCE}`;

const toShown = (row: unknown): ShownToken => ({
  ...toToken(row),
  formerExpiresAt: FormerSchema.parse(row).former_expires_at,
});

/** Which tokens; what is absent lets every one through. */
export interface TokenFilter {
  /** A part of the name, without regard to case. */
  name?: string | undefined;
  /** Id of a principal. */
  principal?: string | undefined;
}

/** Where a page of tokens ended. */
export type TokenPosition = readonly [createdAt: number, id: string];

const MATCHES = `t.former_of IS NULL AND (?1 IS NULL OR instr(lower(t.name), lower(?1)) > 0)
  AND (?2 IS NULL OR t.principal_id = ?2)`;

/** One page of the tokens, newest first, and how many match. */
export async function listTokens(
  db: D1Database,
  filter: TokenFilter,
  limit: number,
  after?: TokenPosition,
): Promise<ListPage<ShownToken> & { total: number }> {
  const [createdAt = null, id = null] = after ?? [];
  const params = [filter.name ?? null, filter.principal ?? null];
  const [page, total] = await db.batch([
    db
      .prepare(
        `${SELECT_SHOWN}
         WHERE ${MATCHES} AND (?3 IS NULL OR t.created_at < ?3 OR (t.created_at = ?3 AND t.id > ?4))
         ORDER BY t.created_at DESC, t.id LIMIT ?5`,
      )
      .bind(...params, createdAt, id, limit + 1),
    db.prepare(`SELECT count(*) AS total FROM tokens AS t WHERE ${MATCHES}`).bind(...params),
  ]);
  const tokens = (page?.results ?? []).map(toShown);
  return {
    ...toListPage(tokens, limit, token => [token.createdAt, token.id]),
    total: TotalSchema.parse(total?.results[0]).total,
  };
}

/** One token, or undefined. */
export async function findToken(db: D1Database, id: string): Promise<ShownToken | undefined> {
  const row = await db
    .prepare(`${SELECT_SHOWN} WHERE t.id = ? AND t.former_of IS NULL`)
    .bind(id)
    .first();
  return row === null ? undefined : toShown(row);
}
