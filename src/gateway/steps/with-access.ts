/**
 * Access as a decorator: narrows the reach to what the caller may see and refuses what its scopes
 * do not allow. Every method goes through the same decision, so what is hidden is unknown.
 */
import type { Caller } from '../../access/policy/caller.ts';
import type { Reach } from '../listing.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import type { Policy } from '../../access/policy/policy.ts';
import { both, NOTHING, WHOLE, type View } from '../../access/policy/view.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { Gateway } from '../gateway.ts';

/** By what was narrowed: a reach with views of its own, or the servers of one without. */
const made = new WeakMap<Policy, WeakMap<Reach | readonly Server[], Reach>>();

/** A reach as a caller sees it: servers of which it sees nothing are gone, of the others its view is left. */
export function narrowed({ policy }: Caller, reach: Reach): Reach {
  let known = made.get(policy);
  if (!known) made.set(policy, (known = new WeakMap()));
  const key = reach.views || reach.client ? reach : reach.servers;
  const before = known.get(key);
  if (before) return before;
  const narrow = toNarrow(policy, reach);
  // What is narrowed already stays as it is.
  known.set(key, narrow).set(narrow, narrow);
  return narrow;
}

function toNarrow(policy: Policy, reach: Reach): Reach {
  const views = new Map<string, View>();
  const servers = reach.servers.filter(server => {
    const given = reach.views?.get(server.id) ?? WHOLE;
    const view = both(policy.viewOf(server), given);
    if (view !== WHOLE) views.set(server.id, view);
    return view !== NOTHING;
  });
  return { ...reach, servers, views };
}

/** The gateway as one caller may use it. */
export function withAccess(inner: Gateway): Gateway {
  return {
    async visible(caller, reach) {
      return inner.visible(caller, narrowed(caller, reach));
    },
    async list(caller, reach, naming, kind) {
      requireScope(caller, 'tools:read');
      return inner.list(caller, narrowed(caller, reach), naming, kind);
    },
    async find(caller, reach, naming, name) {
      requireScope(caller, 'tools:read');
      return inner.find(caller, narrowed(caller, reach), naming, name);
    },
    async search(caller, reach, naming, request) {
      requireScope(caller, 'tools:read');
      return inner.search(caller, narrowed(caller, reach), naming, request);
    },
    async subscription(caller, reach, naming, uri) {
      requireScope(caller, 'tools:read');
      return inner.subscription(caller, narrowed(caller, reach), naming, uri);
    },
    async offer(caller, reach, naming, tasks) {
      return inner.offer(caller, narrowed(caller, reach), naming, tasks);
    },
    async hearTasks(caller, reach, taskIds, hear, signal) {
      requireScope(caller, 'tools:read');
      return inner.hearTasks(caller, narrowed(caller, reach), taskIds, hear, signal);
    },
    async request(caller, reach, naming, request, context) {
      requireScope(caller, 'tools:call');
      return inner.request(caller, narrowed(caller, reach), naming, request, context);
    },
  };
}
