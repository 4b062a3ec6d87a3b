/** The audit rows of a caller who does not administer the whole deployment: its own. */
import { z } from 'zod';
import { hasLimits, type Actor } from '../shared/identity/principal.ts';
import { onEitherSchema } from '../shared/util/either-schema.ts';
import type { OwnRows, PlacedEvent } from './audit-schema.ts';

const FoundSchema = z.object({
  is_held: z.number(),
  stronger: z.string().transform(text => z.array(z.string()).parse(JSON.parse(text))),
});

/** Tokens, grants and sign-ins by an identity or an invitation with the scope `admin`, of a principal that may have it. */
const STRONGER = `SELECT each.id FROM
    (SELECT id, principal_id, scopes FROM tokens WHERE former_of IS NULL AND grant_id IS NULL
      UNION ALL SELECT id, principal_id, scopes FROM oauth_grants
      UNION ALL SELECT s.id, s.principal_id, o.scopes FROM sign_ins AS s JOIN principals AS o ON o.id = s.principal_id
        WHERE s.token_id IS NULL) AS each JOIN principals AS p ON p.id = each.principal_id
  WHERE each.principal_id = ?2 AND EXISTS (SELECT 1 FROM json_each(each.scopes) WHERE value = 'admin')
    AND (p.scopes IS NULL OR EXISTS (SELECT 1 FROM json_each(p.scopes) WHERE value = 'admin'))`;
/** The token is a person's own, or a person's sign-in; it was not made for a client or granted to one. */
const HELD_BY_SOMEBODY = `EXISTS (SELECT 1 FROM tokens WHERE id = ?1 AND principal_id = ?2 AND made_by IS NULL AND grant_id IS NULL)
  OR EXISTS (SELECT 1 FROM sign_ins WHERE id = ?1 AND principal_id = ?2)`;

/**
 * Returns the rows of a caller. A client, or a token with limits, sees only what it did itself. A person also sees
 * calls by their other tokens, except those that administer, since they may use what is hidden from the caller.
 */
export async function findOwnRows(db: D1Database, caller: Actor): Promise<OwnRows> {
  const { principalId, tokenId } = caller;
  const rows = { principalId, tokenId };
  if (hasLimits(caller)) return rows;
  const found = await onEitherSchema(async age =>
    age === 'last'
      ? null
      : db
          .prepare(
            `SELECT ${HELD_BY_SOMEBODY} AS is_held, (SELECT json_group_array(id) FROM (${STRONGER})) AS stronger`,
          )
          .bind(tokenId, principalId)
          .first(),
  );
  if (found === null) return rows;
  const { is_held: isHeld, stronger } = FoundSchema.parse(found);
  return isHeld === 1 ? { ...rows, callsBut: stronger } : rows;
}

/** Whether a call is among these rows. */
export const isOwnCall = (
  { principalId, tokenId, callsBut }: OwnRows,
  event: Pick<PlacedEvent, 'principalId' | 'tokenId'>,
): boolean =>
  event.principalId === principalId &&
  (event.tokenId === tokenId || (callsBut !== undefined && !callsBut.includes(event.tokenId)));

/** The same condition for rows of `audit_events`. @param ofCalls SQL that is true for rows of calls */
export function whereOwnRows(
  { principalId, tokenId, callsBut }: OwnRows,
  ofCalls: string,
): { sql: string; params: string[] } {
  if (!callsBut)
    return { sql: '(principal_id = ? AND token_id = ?)', params: [principalId, tokenId] };
  return {
    sql: `(principal_id = ? AND (token_id = ? OR (${ofCalls} AND token_id NOT IN (SELECT value FROM json_each(?)))))`,
    params: [principalId, tokenId, JSON.stringify(callsBut)],
  };
}
