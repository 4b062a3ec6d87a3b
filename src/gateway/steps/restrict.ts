/**
 * What a caller may not see is taken out of its view, and what its own account at a server does not have, before anything is listed,
 * looked up or called: so what is hidden is unknown, to every function of the gateway alike.
 */
import type { Caller } from '../../access/policy/caller.ts';
import type { Viewer, VisibleServers } from '../viewer.ts';
import { viewOfAccount } from '../../access/policy/account-view.ts';
import type { Policy } from '../../access/policy/policy.ts';
import { both, NOTHING, WHOLE, type View } from '../../access/policy/view.ts';
import type { Server } from '../../servers/registry/server-schema.ts';

/** By what was narrowed: visible servers with views of their own, or the servers of one without. */
const made = new WeakMap<Policy, WeakMap<VisibleServers | readonly Server[], VisibleServers>>();

/** A viewer that sees what its caller may see. */
export function restrict(viewer: Viewer): Viewer {
  return { ...viewer, visible: restrictToCaller(viewer.caller, viewer.visible) };
}

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
    const view = both(both(policy.viewOf(server), given), viewOfAccount(server));
    if (view !== WHOLE) views.set(server.id, view);
    return view !== NOTHING;
  });
  return { ...visible, servers, views };
}
