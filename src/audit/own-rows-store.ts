/** Which rows of the audit somebody sees who does not administer the whole deployment: their own. */
import { z } from 'zod';
import { hasLimits, type Actor } from '../shared/identity/principal.ts';
import { onEitherSchema } from '../shared/util/either-schema.ts';
import type { OwnRows, PlacedEvent } from './audit-schema.ts';

const FoundSchema = z.object({
  is_held: z.number(),
  stronger: z.string().transform(text => z.array(z.string()).parse(JSON.parse(text))),
});

/** Tokens and grants that administer, of a principal that may. */
const STRONGER = `SELECT each.id FROM
    (SELECT id, principal_id, scopes FROM tokens WHERE former_of IS NULL AND grant_id IS NULL
      UNION ALL SELECT id, principal_id, scopes FROM oauth_grants) AS each JOIN principals AS p ON p.id = each.principal_id
  WHERE each.principal_id = ?2 AND EXISTS (SELECT 1 FROM json_each(each.scopes) WHERE value = 'admin')
    AND (p.scopes IS NULL OR EXISTS (SELECT 1 FROM json_each(p.scopes) WHERE value = 'admin'))`;
/** A token of a person, or the sign-in of one; not what was made for a client, or granted to it. */
const HELD_BY_SOMEBODY = `EXISTS (SELECT 1 FROM tokens WHERE id = ?1 AND principal_id = ?2 AND made_by IS NULL AND grant_id IS NULL)
  OR EXISTS (SELECT 1 FROM sign_ins WHERE id = ?1 AND principal_id = ?2)`;

/**
 * The rows of a caller. A client, and a token with limits, sees what it did itself; a person sees their calls by other tokens too, but for
 * those that administer, which may use what is hidden from the caller.
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

/** Whether a call is one of theirs. */
export const isOwnCall = (
  { principalId, tokenId, callsBut }: OwnRows,
  event: Pick<PlacedEvent, 'principalId' | 'tokenId'>,
): boolean =>
  event.principalId === principalId &&
  (event.tokenId === tokenId || (callsBut !== undefined && !callsBut.includes(event.tokenId)));

/** The same for rows of `audit_events`. @param ofCalls what is true for rows of calls */
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
