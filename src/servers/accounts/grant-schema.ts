/** What an account holds whose owner signed in at the server's authorization server: a row of `account_grants`, and what is sealed of it. */
import { z } from 'zod';
import type { TokenPlace, UpstreamClient } from '../../credentials/oauth/code-flow-schema.ts';
import { accountPlaceId } from '../../credentials/sealed-credential.ts';
import type { Place } from '../../shared/crypto/envelope.ts';

/** Why an account ended that its owner did not end: what people and audit rows are told. */
const END_REASONS = {
  /** The issuer takes its refresh token no more. */
  refused: 'The sign-in ended there',
  /** The same, after an answer of the issuer was lost on the way, and the new refresh token with it. */
  answer_lost: 'The answer to a renewal was lost on the way',
  /** There is nothing to renew it with. */
  expired: 'It ran out and cannot be renewed',
  /** The server names another issuer now. */
  issuer_changed: 'The server has another authorization server now',
  /** The issuer knows our client no more, or an administrator set another up. */
  client_gone: 'The client it was made for is gone',
} as const;
export type EndReason = keyof typeof END_REASONS;

/** What the owner of an account is told that ended. @param reason one of these; another says nothing more */
export function toEndText(reason: string): string {
  const why = Object.entries(END_REASONS).find(([name]) => name === reason)?.[1];
  return `Your account there has to be connected again${why === undefined ? '' : `. ${why}`}`;
}

export const GrantSchema = z.object({
  account_id: z.string(),
  principal_id: z.string(),
  server_id: z.string(),
  issuer: z.string(),
  resource: z.string(),
  token_endpoint: z.string(),
  revocation_endpoint: z.string().nullable(),
  client_source: z.enum(['given', 'document', 'registered']),
  client_id: z.string(),
  client_method: z.enum(['none', 'basic', 'post']),
  /** What the issuer granted, where it said so; else what was asked for. */
  scope: z.string().nullable(),
  /** What was asked for at the last sign-in. */
  asked_scope: z.string().nullable(),
  /** What the server said that a call wants. */
  wanted_scope: z.string().nullable(),
  /** Sign-ins in a row that asked for nothing new. */
  asked: z.number(),
  refresh_sealed: z.string().nullable(),
  serial: z.number(),
  issued_at: z.number(),
  expires_at: z.number(),
  /** The serial of the token that a renewal was sent for, whose answer is not stored yet. */
  sent_serial: z.number().nullable(),
  ended: z.enum(Object.keys(END_REASONS) as [EndReason, ...EndReason[]]).nullable(),
  auth_sealed: z.string(),
});
export type Grant = z.infer<typeof GrantSchema>;

/** What a refresh token is bound to. */
export const refreshPlace = ({
  principal_id,
  server_id,
  issuer,
  resource,
}: Pick<Grant, 'principal_id' | 'server_id' | 'issuer' | 'resource'>): Place => ({
  kind: 'account',
  id: accountPlaceId(principal_id, server_id),
  field: 'refresh',
  origin: `${issuer} ${resource}`,
});

/** Where the tokens of a grant are renewed and revoked. */
export const tokenPlaceOf = (grant: Grant): TokenPlace => ({
  issuer: grant.issuer,
  resource: grant.resource,
  tokenEndpoint: grant.token_endpoint,
  revocationEndpoint: grant.revocation_endpoint ?? undefined,
});

/** The part of a client that a grant remembers. */
export const clientColumns = ({ source, clientId, method }: UpstreamClient) => ({
  client_source: source,
  client_id: clientId,
  client_method: method,
});

/** Words of two scopes, each once; undefined where there are none. */
export function unionOf(...scopes: readonly (string | null | undefined)[]): string | undefined {
  const words = new Set(scopes.flatMap(scope => scope?.split(' ') ?? []).filter(Boolean));
  return words.size === 0 ? undefined : [...words].join(' ');
}

/** Whether a scope names something that another does not. */
export const goesBeyond = (wanted: string | null, asked: string | null): boolean => {
  const known = new Set(asked?.split(' ') ?? []);
  return (wanted?.split(' ') ?? []).some(word => word !== '' && !known.has(word));
};
