/** What people make tokens of their own with, and which tokens these are. Reads return parsed rows; the others are conditions. */
import { z } from 'zod';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf } from '../../records/record-store.ts';
import { jsonOf } from '../../records/record-schema.ts';
import { hasScope, type Actor } from '../../shared/identity/principal.ts';
import { onEitherSchema } from '../../shared/util/either-schema.ts';

/** Most tokens that people make for themselves with one maker: a weak one takes no room of a strong one, which may not see its tokens. */
export const MAX_OWN_TOKENS = 50;

const Names = jsonOf(z.array(z.string())).nullable();
const MakerSchema = z.object({
  ends_with: z.string(),
  servers: Names,
  tools: Names,
  toolsets: Names,
  ends_at: z.number().nullable(),
  is_sign_in: z.number(),
  is_made: z.number(),
  is_rotating: z.number(),
});

/** The token, or the browser sign-in, with which somebody asks for tokens of their own; never one that came from a grant. */
export interface Maker {
  /** Id of the passkey, token, identity or principal whose end also ends the tokens made with it. */
  endsWith: string;
  servers: string[] | null;
  tools: string[] | null;
  toolsets: string[] | null;
  /** When it ends, where known; milliseconds since the epoch. */
  endsAt: number | null;
  /** It is a sign-in without a token, which the next one extends. */
  isSignIn: boolean;
  /** It was itself made this way, so it cannot make tokens. */
  isMade: boolean;
  /** A rotated-away value of it still works: a token made with that might outlast it. */
  isRotating: boolean;
}

const MAKER = `SELECT coalesce(k.id, t.id) AS ends_with, t.servers, t.tools, t.toolsets, t.expires_at AS ends_at, 0 AS is_sign_in,
    t.made_by IS NOT NULL AS is_made, EXISTS (SELECT 1 FROM tokens WHERE former_of = t.id AND expires_at > ?) AS is_rotating
  FROM tokens AS t LEFT JOIN passkeys AS k ON k.id = ? AND k.token_id = t.id
  WHERE (? IS NULL OR k.id IS NOT NULL) AND t.id = ? AND t.principal_id = ? AND t.grant_id IS NULL AND t.former_of IS NULL
  UNION ALL
  SELECT coalesce(s.passkey_id, s.identity_id, s.principal_id), NULL, NULL, NULL, i.expires_at, 1, 0, 0
  FROM sign_ins AS s LEFT JOIN identities AS i ON i.id = s.identity_id
  WHERE s.id = ? AND s.principal_id = ? AND s.token_id IS NULL AND s.expires_at > ?`;
const paramsOf = ({ tokenId, principalId, passkeyId }: Actor, now: number) => {
  const who = [tokenId, principalId];
  const passkey = passkeyId ?? null;
  return [now, passkey, passkey, ...who, ...who, now];
};

/**
 * Finds the maker that the caller uses; undefined where it may have no tokens of its own, or the database has the last release's schema.
 */
export async function findMaker(
  db: D1Database,
  caller: Actor,
  now: number,
): Promise<Maker | undefined> {
  const found = await onEitherSchema(async age =>
    age === 'last'
      ? null
      : db
          .prepare(MAKER)
          .bind(...paramsOf(caller, now))
          .first(),
  );
  if (found === null) return undefined;
  const row = MakerSchema.parse(found);
  return {
    endsWith: row.ends_with,
    servers: row.servers,
    tools: row.tools,
    toolsets: row.toolsets,
    endsAt: row.ends_at,
    isSignIn: row.is_sign_in === 1,
    isMade: row.is_made === 1,
    isRotating: row.is_rotating === 1,
  };
}

/** Condition: the maker still exists and may make tokens. */
export const whenMaker = (caller: Actor, now: number): Condition => ({
  sql: `EXISTS (SELECT 1 FROM (${MAKER}) WHERE NOT is_made AND NOT is_rotating)`,
  params: paramsOf(caller, now),
});

/** Condition: fewer tokens were made with the maker than may be. */
export const whenFewer = ({ endsWith }: Maker): Condition => ({
  sql: `(SELECT count(*) FROM tokens WHERE made_by = ? AND former_of IS NULL) < ?`,
  params: [endsWith, MAX_OWN_TOKENS],
});

/** Condition: tokens whose scopes allow no more than the caller's own credential. */
const whereNoMore = ({ scopes }: Actor): Condition => ({
  sql: `NOT EXISTS (SELECT 1 FROM json_each(scopes) AS scope
    WHERE scope.value NOT IN (SELECT value FROM json_each(?))
      AND (principal_scopes IS NULL OR EXISTS
        (SELECT 1 FROM json_each(principal_scopes) WHERE value IN ('admin', scope.value))))`,
  params: [JSON.stringify([...scopes])],
});

/** Condition: tokens that end no later than the caller's own; all for a sign-in, which the next sign-in extends. */
const whereNoLonger = ({ isSignIn, endsAt }: Maker): Condition[] =>
  isSignIn || endsAt === null ? [] : [{ sql: 'expires_at <= ?', params: [endsAt] }];

const OWN_AND_MADE =
  '(id = ? OR made_by = ? OR made_by IN (SELECT id FROM passkeys WHERE token_id = ?))';

/**
 * Condition on rows of the list: the caller's tokens that it may know of.
 * @param isNarrow only the token that the caller uses, and those made with it
 */
export const whereOwn = (caller: Actor, maker: Maker, isNarrow: boolean): Condition =>
  allOf(
    { sql: 'principal_id = ?', params: [caller.principalId] },
    ...(hasScope(caller, 'admin') ? [] : [whereNoMore(caller)]),
    ...whereNoLonger(maker),
    ...(isNarrow
      ? [{ sql: OWN_AND_MADE, params: [caller.tokenId, caller.tokenId, caller.tokenId] }]
      : []),
  );
