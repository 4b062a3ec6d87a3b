/**
 * Access as a decorator: narrows the reach to what the caller may see and refuses what its scopes
 * do not allow. List and call go through the same decision, so what is hidden is unknown.
 */
import { decideServer, requireScope, type Caller } from '../access/principal.ts';
import type { Gateway, Reach } from './gateway.ts';

const narrowed = (caller: Caller, reach: Reach): Reach =>
  caller.servers === undefined
    ? reach
    : { servers: reach.servers.filter(server => decideServer(caller, server.id)) };

/** The gateway as one caller may use it. */
export function withAccess(inner: Gateway): Gateway {
  return {
    async listTools(caller, reach, naming) {
      requireScope(caller, 'tools:read');
      return inner.listTools(caller, narrowed(caller, reach), naming);
    },
    async callTool(caller, reach, call, context) {
      requireScope(caller, 'tools:call');
      return inner.callTool(caller, narrowed(caller, reach), call, context);
    },
  };
}
