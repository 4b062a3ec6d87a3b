/** Tools as ask uses them: the allowed tools as visible servers, and a tool of the live catalog as the guard judges it. Pure. */
import { isReadOnly } from '../../servers/catalog/catalog.ts';
import type { ListedItem } from '../../gateway/listing.ts';
import { isStandIn } from '../../gateway/stand-in.ts';
import type { VisibleServers } from '../../gateway/viewer.ts';
import { both, NOTHING, WHOLE } from '../../access/policy/view.ts';
import { allowedView, type AllowEntry } from './allow-list.ts';
import type { GuardedTool } from './request-guard.ts';

/** Returns visible servers that contain, of each server, only what the operator allows. */
export function allowedServers(
  visible: VisibleServers,
  entries: readonly AllowEntry[],
): VisibleServers {
  const views = new Map(
    visible.servers.map(server => {
      const seen = visible.views?.get(server.id) ?? WHOLE;
      return [server.id, both(seen, allowedView(entries, server))];
    }),
  );
  const servers = visible.servers.filter(({ id }) => views.get(id) !== NOTHING);
  return { servers, views };
}

/** Returns what the guard judges of a listed tool. */
export function toGuarded({ server, item }: ListedItem): GuardedTool {
  return {
    server: { id: server.id, name: server.name },
    tool: item.key,
    inputSchema: JSON.parse(item.raw.get('inputSchema') ?? '{}'),
    isReadOnly: isReadOnly(item),
    isStandIn: isStandIn(item),
  };
}

/** The names by which a plan refers to a tool. */
export const namesOf = ({ server, tool }: GuardedTool) => ({ server: server.name, tool });
