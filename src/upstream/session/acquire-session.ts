/** Gets a client its session at a legacy upstream: the stored one, or a new one that this caller opens while all others wait for it. */
import type { JsonObject } from '../../shared/protocol.ts';
import { createDeadline } from '../../http/deadline.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { initializeHttp } from './handshake.ts';

/** Longest time of a handshake, in milliseconds. */
const HANDSHAKE_MS = 10_000;

/** A session at an upstream, as it is stored. */
export interface UpstreamSession {
  sessionId: string;
  protocolVersion: string;
  /** The address and credential it was opened with; others need another session. */
  credentialKey: string;
  /** The server offers no notification stream in it. */
  hasNoStream?: boolean;
}

/** A session, or the right to open one. */
export type Acquired = { session: UpstreamSession } | { claim: string };

/** Stores and claims sessions: the client's object, from inside or through its binding. */
export interface SessionHolder {
  acquire(serverId: string, credentialKey: string): Promise<Acquired>;
  settle(serverId: string, claim: string, session?: UpstreamSession): Promise<boolean>;
}

/**
 * @param capabilities the client capabilities
 * @throws PorticoError with an `upstream_*` code if the handshake fails
 */
export async function acquireSession(
  holder: SessionHolder,
  endpoint: UpstreamEndpoint,
  capabilities: JsonObject,
  maxBytes: number,
): Promise<UpstreamSession> {
  const { serverId, credentialKey } = endpoint;
  const acquired = await holder.acquire(serverId, credentialKey);
  if ('session' in acquired) return acquired.session;
  const { claim } = acquired;
  try {
    const session = await openSession(endpoint, capabilities, maxBytes);
    await holder.settle(serverId, claim, session);
    return session;
  } catch (error) {
    await holder.settle(serverId, claim);
    throw error;
  }
}

/**
 * Opens a separate session; its id is empty if the server keeps none.
 * @param capabilities the client capabilities
 * @throws PorticoError with an `upstream_*` code if the handshake fails
 */
export async function openSession(
  endpoint: UpstreamEndpoint,
  capabilities: JsonObject,
  maxBytes: number,
): Promise<UpstreamSession> {
  const deadline = createDeadline(HANDSHAKE_MS);
  try {
    const found = await initializeHttp(endpoint, deadline, maxBytes, capabilities);
    const { protocolVersion, sessionId = '' } = found;
    return { sessionId, protocolVersion, credentialKey: endpoint.credentialKey };
  } finally {
    deadline.release();
  }
}
