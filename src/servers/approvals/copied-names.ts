/**
 * Finds tools whose own name is the whole qualified name of another server's tool (`github.create_issue` at a server other than `github`).
 * Where the server part is not shown, or a model copies only the end of a name, the two are mistaken for each other.
 */
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { parseQualifiedName } from '../../shared/naming/qualified-name.ts';
import type { Definition } from './definition.ts';
import type { Neighbour } from './judge.ts';
import { listServerNames } from '../registry/server-list-store.ts';
import { findApproved } from './approval-store.ts';
import { shortSkeleton, skeletonOf } from './skeleton.ts';

/** Longest server part that is looked up, in characters; no server has a longer name. */
const MAX_SERVER_CHARS = 200;
/** Maximum number of ways to split one name that are looked up. */
const MAX_PARTS = 8;

/**
 * @param definitions tools that are not approved
 * @returns the tool that each of them copies, by the id of its definition
 */
export async function findCopied(
  db: D1Database,
  serverId: string,
  definitions: readonly Definition[],
): Promise<Map<string, Neighbour>> {
  const parts = definitions.flatMap(({ id, name }) =>
    parseQualifiedName(name)
      .slice(0, MAX_PARTS)
      .filter(({ server, tool }) => server.length <= MAX_SERVER_CHARS && tool !== '')
      .map(({ server, tool }) => ({ id, server: skeletonOf(server), tool })),
  );
  if (parts.length === 0) return new Map();
  const others = (await listServerNames(db)).filter(({ id }) => id !== serverId);
  const servers = Map.groupBy(others, ({ name }) => skeletonOf(name));
  const wanted = parts.flatMap(({ id, server, tool }) =>
    (servers.get(server) ?? []).map(other => ({ id, other: other.id, tool })),
  );
  const pairs = await Promise.all(
    wanted.map(async ({ id, other, tool }) => {
      return { id, pair: [other, await shortSkeleton(tool, sha256Hex)] as const };
    }),
  );
  const approved = await findApproved(
    db,
    pairs.map(({ pair }) => pair),
  );
  const keyOf = (...pair: readonly string[]) => JSON.stringify(pair);
  const byPair = new Map(approved.map(tool => [keyOf(tool.serverId, tool.skeleton), tool]));
  return new Map(
    pairs.flatMap(({ id, pair }) => {
      const copied = byPair.get(keyOf(...pair));
      return copied ? [[id, copied] as const] : [];
    }),
  );
}
