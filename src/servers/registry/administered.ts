/** Which servers a token with limits administers, for reads of many servers at once. */
import { administers, hasLimits, type Actor } from '../../shared/identity/principal.ts';
import { listServerNames } from './server-list-store.ts';

/** Ids of the servers whole within the caller's limits; undefined where it has none, which means all of them. */
export async function administeredIds(
  db: D1Database,
  caller: Actor,
): Promise<readonly string[] | undefined> {
  if (!hasLimits(caller)) return undefined;
  const servers = await listServerNames(db);
  return servers.filter(server => administers(caller, server)).map(({ id }) => id);
}
