/** Restricts visible servers to a toolset: by the servers' own names of their tools, whatever names the toolset gives them. Pure. */
import type { VisibleServers } from './viewer.ts';
import { viewOfToolset } from '../access/policy/policy.ts';
import type { Toolset } from '../access/policy/toolset.ts';
import { both, NOTHING, WHOLE } from '../access/policy/view.ts';

/** Returns the servers of which something is left, and the view on each. */
export function withinToolset(
  toolset: Toolset,
  seen: VisibleServers,
): VisibleServers & Required<Pick<VisibleServers, 'views'>> {
  const views = new Map(
    seen.servers.map(server => {
      const view = viewOfToolset(toolset, server);
      return [server.id, both(seen.views?.get(server.id) ?? WHOLE, view)];
    }),
  );
  return { ...seen, servers: seen.servers.filter(({ id }) => views.get(id) !== NOTHING), views };
}
