/** Which servers a token with limits administers, for queries over many servers. */
import { administers, hasLimits, type Actor } from '../../shared/identity/principal.ts';
import { listServerNames } from './server-list-store.ts';

/** Ids of the servers that lie entirely within the caller's limits; undefined if the caller has no limits, which means all servers. */
export async function administeredIds(
  db: D1Database,
  caller: Actor,
): Promise<readonly string[] | undefined> {
  if (!hasLimits(caller)) return undefined;
  const servers = await listServerNames(db);
  return servers.filter(server => administers(caller, server)).map(({ id }) => id);
}
