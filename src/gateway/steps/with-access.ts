/**
 * Access as a decorator: hides all but what the caller may see and refuses what its scopes
 * do not allow. Every method goes through the same decision, so what is hidden is unknown.
 */
import type { Caller } from '../../access/policy/caller.ts';
import type { VisibleServers } from '../listing.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import type { Policy } from '../../access/policy/policy.ts';
import { both, NOTHING, WHOLE, type View } from '../../access/policy/view.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { Gateway } from '../gateway.ts';

/** By what was narrowed: visible servers with views of their own, or the servers of one without. */
const made = new WeakMap<Policy, WeakMap<VisibleServers | readonly Server[], VisibleServers>>();

/** Visible servers as a caller sees them: servers of which it sees nothing are gone, of the others its view is left. */
export function restrictToCaller({ policy }: Caller, visible: VisibleServers): VisibleServers {
  let known = made.get(policy);
  if (!known) made.set(policy, (known = new WeakMap()));
  const key = visible.views || visible.client ? visible : visible.servers;
  const before = known.get(key);
  if (before) return before;
  const narrow = toNarrow(policy, visible);
  // What is narrowed already stays as it is.
  known.set(key, narrow).set(narrow, narrow);
  return narrow;
}

function toNarrow(policy: Policy, visible: VisibleServers): VisibleServers {
  const views = new Map<string, View>();
  const servers = visible.servers.filter(server => {
    const given = visible.views?.get(server.id) ?? WHOLE;
    const view = both(policy.viewOf(server), given);
    if (view !== WHOLE) views.set(server.id, view);
    return view !== NOTHING;
  });
  return { ...visible, servers, views };
}

/** The gateway as one caller may use it. */
export function withAccess(inner: Gateway): Gateway {
  return {
    async visible(caller, visible) {
      return inner.visible(caller, restrictToCaller(caller, visible));
    },
    async list(caller, visible, naming, kind) {
      requireScope(caller, 'tools:read');
      return inner.list(caller, restrictToCaller(caller, visible), naming, kind);
    },
    async find(caller, visible, naming, name) {
      requireScope(caller, 'tools:read');
      return inner.find(caller, restrictToCaller(caller, visible), naming, name);
    },
    async search(caller, visible, naming, request) {
      requireScope(caller, 'tools:read');
      return inner.search(caller, restrictToCaller(caller, visible), naming, request);
    },
    async subscription(caller, visible, naming, uri) {
      requireScope(caller, 'tools:read');
      return inner.subscription(caller, restrictToCaller(caller, visible), naming, uri);
    },
    async advertise(caller, visible, naming, tasks) {
      return inner.advertise(caller, restrictToCaller(caller, visible), naming, tasks);
    },
    async subscribeTasks(caller, visible, taskIds, hear, signal) {
      requireScope(caller, 'tools:read');
      return inner.subscribeTasks(caller, restrictToCaller(caller, visible), taskIds, hear, signal);
    },
    async request(caller, visible, naming, request, context) {
      requireScope(caller, 'tools:call');
      return inner.request(caller, restrictToCaller(caller, visible), naming, request, context);
    },
  };
}
