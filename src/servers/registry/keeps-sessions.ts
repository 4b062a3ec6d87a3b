/** Whether a server keeps a session for each of its clients. Pure. */
import type { Server } from './server-schema.ts';
import { isOffered } from './status.ts';

/**
 * True for a legacy server with sessions, and for HTTP+SSE, where the connection is the session. What a client does in its own session is
 * announced in that session only.
 */
export function keepsSessions({ status, verdict }: Pick<Server, 'status' | 'verdict'>): boolean {
  return isOffered(status) && verdict?.era === 'legacy' && verdict.sessionful;
}
