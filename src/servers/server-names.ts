/**
 * Servers in patterns, between what people write and what is stored: a server that is named exactly is stored by its id, so
 * that a rename changes nothing and a new server of an old name gets nothing, and shown by the name it has now. A part with `*` stays
 * as it is written. Pure.
 */
import { EVERYTHING, type NamedServer } from '../shared/util/name-pattern.ts';

/** The server a text names: by its id, else by its name without regard to case. */
export function findNamed<T extends NamedServer>(
  key: string,
  servers: readonly T[],
): T | undefined {
  const name = key.toLowerCase();
  return (
    servers.find(({ id }) => id === key) ?? servers.find(entry => entry.name.toLowerCase() === name)
  );
}

/** A pattern over servers as it is stored; undefined where it names one exactly that does not exist. */
export function toStoredServer(
  pattern: string,
  servers: readonly NamedServer[],
): string | undefined {
  return pattern.includes(EVERYTHING) ? pattern : findNamed(pattern, servers)?.id;
}

/** A stored pattern over servers as it is shown; the id of a server that is gone stays. */
export function toShownServer(stored: string, servers: readonly NamedServer[]): string {
  return servers.find(({ id }) => id === stored)?.name ?? stored;
}

/** A qualified pattern as it is stored; undefined where its server does not exist, or its tool is empty. */
export function toStoredPattern(
  pattern: string,
  servers: readonly NamedServer[],
): string | undefined {
  const [server, tool] = cut(pattern);
  const stored = toStoredServer(server, servers);
  return stored === undefined || tool === '.' ? undefined : stored + tool;
}

/** A stored qualified pattern as it is shown. */
export function toShownPattern(stored: string, servers: readonly NamedServer[]): string {
  const [server, tool] = cut(stored);
  return toShownServer(server, servers) + tool;
}

/** The server's part, and the rest with its dot; empty where the whole server is meant. */
function cut(pattern: string): [server: string, tool: string] {
  const at = pattern.indexOf('.');
  return at === -1 ? [pattern, ''] : [pattern.slice(0, at), pattern.slice(at)];
}

/**
 * The servers, and one of its id for each that stored patterns name and that is gone, so that what is stored can be written again.
 * @param stored patterns, qualified or over servers
 */
export function withGone(
  servers: readonly NamedServer[],
  stored: readonly string[],
): readonly NamedServer[] {
  const gone = stored
    .map(pattern => cut(pattern)[0])
    .filter(id => !id.includes(EVERYTHING) && !servers.some(server => server.id === id));
  return [...servers, ...[...new Set(gone)].map(id => ({ id, name: id }))];
}
