/**
 * Access as a decorator: narrows the reach to what the caller may see and refuses what its scopes
 * do not allow. Every method goes through the same decision, so what is hidden is unknown.
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
    async list(caller, reach, naming, kind) {
      requireScope(caller, 'tools:read');
      return inner.list(caller, narrowed(caller, reach), naming, kind);
    },
    async subscription(caller, reach, naming, uri) {
      requireScope(caller, 'tools:read');
      return inner.subscription(caller, narrowed(caller, reach), naming, uri);
    },
    async offer(caller, reach, naming) {
      return inner.offer(caller, narrowed(caller, reach), naming);
    },
    async request(caller, reach, naming, request, context) {
      requireScope(caller, 'tools:call');
      return inner.request(caller, narrowed(caller, reach), naming, request, context);
    },
  };
}
