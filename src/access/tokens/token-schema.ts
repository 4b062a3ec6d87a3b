/** Tokens in the API: what it accepts and shows. Neither contains a token's value. */
import { z } from 'zod';
import { namePartOf } from '../../records/record-schema.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { type NamedServer, PatternSchema } from '../../shared/util/name-pattern.ts';
import { toShownPattern } from '../../servers/server-names.ts';
import { ScopeSchema, type Token } from '../../shared/identity/principal.ts';

/** Longest lifetime of a token that expires, in milliseconds: ten years. */
const MAX_LIFE_MS = 3_653 * 86_400_000;
/** Longest time that a rotated-away value still works, in seconds. */
const MAX_GRACE_SECONDS = 86_400;

/** Body of `POST /api/v1/tokens`. */
export const CreateTokenSchema = z.strictObject({
  name: z.string().trim().min(1).max(100),
  principal: z.string().min(1).max(100).optional().meta({
    description:
      'Id of the principal that the token is for; if absent, administrators get a new principal of the same name, everybody else their own',
  }),
  servers: z.array(z.string().min(1).max(100)).min(1).max(500).optional().meta({
    description: 'Names or ids of the only servers it may see',
  }),
  tools: z.array(PatternSchema).min(1).max(100).optional().meta({
    description: 'Patterns over qualified names, the only tools it may see',
  }),
  toolsets: z.array(z.string().min(1).max(100)).min(1).max(100).optional().meta({
    description: 'Names or ids of the only toolsets it may use',
  }),
  scopes: z.array(ScopeSchema).min(1).optional(),
  expires_at: z.iso.datetime({ offset: true }).optional().meta({
    description:
      'In the future, at most ten years; for a token of your own, no later than the end of what you send this request with',
  }),
});
export type CreateToken = z.infer<typeof CreateTokenSchema>;

/** Body of `POST /api/v1/tokens/{id}/rotate`. */
export const RotateTokenSchema = z.strictObject({
  grace_seconds: z.number().int().min(0).max(MAX_GRACE_SECONDS).optional().meta({
    description:
      'How long the previous value works too, not beyond the expiry of the token; 0 if absent',
  }),
});

/** Filters of the list; an absent filter matches every token. */
export const TokenQuerySchema = z.strictObject({
  name: namePartOf(100),
  principal: z.string().min(1).max(100).optional().meta({
    description: 'Only tokens of the principal with this id',
  }),
});
export type TokenQuery = z.infer<typeof TokenQuerySchema>;

const time = z.iso.datetime();

export const TokenViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  principal: z.string().meta({ description: 'Id of the principal whose token it is' }),
  servers: z.array(z.string()).nullable().meta({ description: 'Ids; null: every server' }),
  tools: z.array(z.string()).nullable().meta({ description: 'Patterns; null: every tool' }),
  toolsets: z.array(z.string()).nullable().meta({ description: 'Ids; null: no such limit' }),
  scopes: z.array(ScopeSchema),
  effective_scopes: z.array(ScopeSchema).meta({
    description: 'Those of `scopes` that its principal may have',
  }),
  created_at: time,
  expires_at: time.nullable(),
  is_expired: z.boolean(),
  last_used_at: time.nullable().meta({ description: 'Exact to five minutes' }),
  former_expires_at: time.nullable().meta({
    description: 'Until then the value from before the last rotation works too',
  }),
  made_by: z.string().nullable().meta({
    description:
      'For a token that somebody made for themselves: id of the token, passkey, identity or principal with which it ends',
  }),
});

/** A token as administrators see it. */
export interface ShownToken extends Token {
  /** Until when the value before the last rotation works, where it does; milliseconds since the epoch. */
  formerExpiresAt: number | null;
  /** What it ends with, where somebody made it for themselves; null where an administrator made it. */
  madeBy: string | null;
}

/** A token and its value, which is shown only here. */
export interface Issued {
  token: ShownToken;
  value: string;
}

/** Whether a token has expired at a given time. */
export function isExpired({ expiresAt }: Pick<Token, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/**
 * Parses a body's `expires_at` to milliseconds since the epoch.
 * @throws PorticoError `validation_failed` where that time has passed, or is too far away
 */
export function parseExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const expiresAt = Date.parse(text);
  if (expiresAt > now && expiresAt <= now + MAX_LIFE_MS) return expiresAt;
  throw fieldProblem('expires_at', 'use a time in the future, within ten years');
}

const toTime = (at: number | null) => (at === null ? null : new Date(at).toISOString());

/** Converts a token to its API form, without its value. */
export function toTokenView(
  token: ShownToken,
  servers: readonly NamedServer[],
  now: number,
): z.infer<typeof TokenViewSchema> {
  const { formerExpiresAt } = token;
  return {
    id: token.id,
    name: token.name,
    principal: token.principalId,
    servers: token.servers,
    tools: token.tools && token.tools.map(pattern => toShownPattern(pattern, servers)),
    toolsets: token.toolsets,
    scopes: token.grantedScopes,
    effective_scopes: token.scopes,
    created_at: new Date(token.createdAt).toISOString(),
    expires_at: toTime(token.expiresAt),
    is_expired: isExpired(token, now),
    last_used_at: toTime(token.lastUsedAt),
    former_expires_at:
      formerExpiresAt !== null && formerExpiresAt > now ? toTime(formerExpiresAt) : null,
    made_by: token.madeBy,
  };
}
