/**
 * Pending sign-ins at issuers: one row each, found by the hash of its `state` and by its principal, and deleted when it is used. The data
 * that the response is checked against is sealed. Only a signed-in person gets a row.
 */
import { z } from 'zod';
import type {
  Authorizer,
  CodeRequest,
  UpstreamClient,
} from '../../credentials/oauth/code-flow-schema.ts';
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { keepConnection, takeConnection } from './connection-store.ts';

/** Lifetime of a pending sign-in, in milliseconds. */
export const PENDING_MS = 600_000;

const PendingSchema = z.object({
  /** Sign-in of the browser that left. */
  signInId: z.string(),
  serverUrl: z.string(),
  authorizer: z.object({
    issuer: z.string(),
    // Pending sign-ins of the previous release do not have it.
    issuers: z.array(z.string()).default([]),
    resource: z.string(),
    scope: z.string().optional(),
    metadata: z.looseObject({ issuer: z.string() }),
  }),
  client: z.object({
    clientId: z.string(),
    clientSecret: z.string().optional(),
    method: z.enum(['none', 'basic', 'post']),
    source: z.enum(['given', 'document', 'registered']),
  }),
  request: z.object({
    redirectUri: z.string(),
    scope: z.string().optional(),
    state: z.string(),
    verifier: z.string(),
  }),
  /** Sign-ins in a row that requested nothing new, including this one. */
  asked: z.number(),
});
export interface Pending {
  signInId: string;
  serverUrl: string;
  authorizer: Authorizer;
  client: UpstreamClient;
  request: CodeRequest;
  asked: number;
}

/** The principal that leaves, and the server it leaves for. */
export interface Leaving {
  principalId: string;
  serverId: string;
}

/** The fields of an issuer's metadata that are needed to process the response. */
const KEPT = [
  'issuer',
  'token_endpoint',
  'revocation_endpoint',
  'authorization_response_iss_parameter_supported',
  'token_endpoint_auth_methods_supported',
] as const;

const placeOf = (hash: string, { principalId, serverId }: Leaving) =>
  `account connection|${hash}|${principalId}|${serverId}`;

/** Stores a pending sign-in. */
export async function keepPending(
  db: D1Database,
  keys: KeyRing,
  leaving: Leaving,
  pending: Pending,
): Promise<void> {
  const { principalId, serverId } = leaving;
  const hash = await sha256Hex(pending.request.state);
  const { metadata } = pending.authorizer;
  const kept = Object.fromEntries(KEPT.map(name => [name, metadata[name]]));
  const text = JSON.stringify({
    ...pending,
    authorizer: { ...pending.authorizer, metadata: kept },
  });
  const sealed = await keys.seal('sign-in', text, placeOf(hash, leaving));
  const now = Date.now();
  await keepConnection(
    db,
    {
      state_hash: hash,
      principal_id: principalId,
      server_id: serverId,
      sealed,
      expires_at: now + PENDING_MS,
    },
    now,
  );
}

/**
 * Takes the pending sign-in of a person who comes back; this works once. Undefined if it belongs to another principal, was used, or has
 * expired.
 */
export async function takePending(
  db: D1Database,
  keys: KeyRing,
  principalId: string,
  state: string,
): Promise<{ serverId: string; pending: Pending } | undefined> {
  const hash = await sha256Hex(state);
  const taken = await takeConnection(db, hash, principalId);
  if (!taken) return undefined;
  const { server_id: serverId, sealed, expires_at: until } = taken;
  if (until <= Date.now()) return undefined;
  const text = await keys.open('sign-in', sealed, placeOf(hash, { principalId, serverId }));
  if (text === undefined) return undefined;
  return { serverId, pending: PendingSchema.parse(JSON.parse(text)) as Pending };
}
