/** The `tokens` table as administrators read it; a rotated-away value's row is not listed as a token. */
import { z } from 'zod';
import type { SchemaAge } from '../../shared/util/either-schema.ts';
import type { ReadTable } from '../../records/record-store.ts';
import { TOKEN_COLUMNS, TOKEN_SOURCE, TokenRowSchema, toToken } from '../policy/token-store.ts';
import type { ShownToken } from './token-schema.ts';

const MADE_BY: Readonly<Record<SchemaAge, string>> = { this: 't.made_by', last: 'NULL AS made_by' };
const toSource = (age: SchemaAge, more: string) => `(SELECT ${TOKEN_COLUMNS[age]}, ${MADE_BY[age]},
  (SELECT max(expires_at) FROM tokens WHERE former_of = t.id) AS former_expires_at
  ${TOKEN_SOURCE} WHERE t.former_of IS NULL ${more})`;

export const TOKENS: ReadTable<ShownToken> = {
  name: 'tokens',
  source: toSource('this', 'AND t.grant_id IS NULL'),
  lastSource: toSource('last', ''),
  row: TokenRowSchema.extend({
    former_expires_at: z.number().nullable(),
    made_by: z.string().nullable(),
  }).transform(row => ({
    ...toToken(row),
    formerExpiresAt: row.former_expires_at,
    madeBy: row.made_by,
  })),
  /** Deletes a token with its rotated-away value; that value's row cannot be deleted by itself. */
  remove: (db, id) => [
    db
      .prepare('DELETE FROM tokens WHERE (id = ?1 AND former_of IS NULL) OR former_of = ?1')
      .bind(id),
  ],
};
