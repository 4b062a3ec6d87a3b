/** Whether a server keeps a session for each of its clients. Pure. */
import type { Server } from './server-schema.ts';
import { isOffered } from './status.ts';

/**
 * A legacy server with sessions, or one of HTTP+SSE, where the connection is the session. What a
 * client does in its own is told there, and there alone.
 */
export function keepsSessions({ status, verdict }: Pick<Server, 'status' | 'verdict'>): boolean {
  return isOffered(status) && verdict?.era === 'legacy' && verdict.sessionful;
}
