/**
 * The grant of an account whose owner signed in at the server's authorization server: a row of `account_grants`, and where its secrets are
 * sealed.
 */
import { z } from 'zod';
import type { TokenPlace, UpstreamClient } from '../../credentials/oauth/code-flow-schema.ts';
import { accountPlaceId } from '../../credentials/sealed-credential.ts';
import type { Place } from '../../shared/crypto/envelope.ts';

/** Reasons why an account ended other than by its owner, with the text for people. */
const END_REASONS = {
  /** The issuer no longer accepts its refresh token. */
  refused: 'The sign-in ended there',
  /** The same, after a response of the issuer was lost together with the new refresh token. */
  answer_lost: 'The answer to a renewal was lost on the way',
  /** It has no refresh token. */
  expired: 'It has expired and cannot be renewed',
  /** The server names another issuer now. */
  issuer_changed: 'The server has another authorization server now',
  /** The issuer no longer knows our client, or an administrator configured another one. */
  client_gone: 'The client it was made for no longer exists',
} as const;
export type EndReason = keyof typeof END_REASONS;

/** The message to the owner of an ended account. @param reason one of these; any other adds no explanation */
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
  /** The scope that the issuer granted, if it reported one; else the requested scope. */
  scope: z.string().nullable(),
  /** The scope requested at the last sign-in. */
  asked_scope: z.string().nullable(),
  /** The scope that the server said a call needs. */
  wanted_scope: z.string().nullable(),
  /** Sign-ins in a row that requested nothing new. */
  asked: z.number(),
  refresh_sealed: z.string().nullable(),
  serial: z.number(),
  issued_at: z.number(),
  expires_at: z.number(),
  /** Serial of the token for which a renewal request was sent, while its response is not stored. */
  sent_serial: z.number().nullable(),
  ended: z.enum(Object.keys(END_REASONS) as [EndReason, ...EndReason[]]).nullable(),
  auth_sealed: z.string(),
});
export type Grant = z.infer<typeof GrantSchema>;

/** The place to which a refresh token is bound. */
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

/** The columns that remember a grant's client. */
export const clientColumns = ({ source, clientId, method }: UpstreamClient) => ({
  client_source: source,
  client_id: clientId,
  client_method: method,
});

/** The union of the words of several scopes; undefined if there are none. */
export function unionOf(...scopes: readonly (string | null | undefined)[]): string | undefined {
  const words = new Set(scopes.flatMap(scope => scope?.split(' ') ?? []).filter(Boolean));
  return words.size === 0 ? undefined : [...words].join(' ');
}

/** Whether a scope names a word that another does not. */
export const goesBeyond = (wanted: string | null, given: string | null): boolean => {
  const known = new Set(given?.split(' ') ?? []);
  return (wanted?.split(' ') ?? []).some(word => word !== '' && !known.has(word));
};
