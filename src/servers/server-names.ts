/**
 * Translates server names in patterns between what people write and what is stored. A server that is named exactly is stored by its id, so
 * that a rename changes nothing and a new server with an old name gets nothing; it is shown by its current name. A part with `*` stays as
 * it is written. Pure.
 */
import { EVERYTHING, type NamedServer } from '../shared/util/name-pattern.ts';

/** Finds the server that a text names: by its id, else by its name, ignoring case. */
export function findNamed<T extends NamedServer>(
  key: string,
  servers: readonly T[],
): T | undefined {
  const name = key.toLowerCase();
  return (
    servers.find(({ id }) => id === key) ?? servers.find(entry => entry.name.toLowerCase() === name)
  );
}

/** The stored form of a server pattern; undefined if it names one server exactly and that server does not exist. */
export function toStoredServer(
  pattern: string,
  servers: readonly NamedServer[],
): string | undefined {
  return pattern.includes(EVERYTHING) ? pattern : findNamed(pattern, servers)?.id;
}

/** The displayed form of a stored server pattern; the id of a deleted server stays as it is. */
export function toShownServer(stored: string, servers: readonly NamedServer[]): string {
  return servers.find(({ id }) => id === stored)?.name ?? stored;
}

/** The stored form of a qualified pattern; undefined if its server does not exist or its tool is empty. */
export function toStoredPattern(
  pattern: string,
  servers: readonly NamedServer[],
): string | undefined {
  const [server, tool] = cut(pattern);
  const stored = toStoredServer(server, servers);
  return stored === undefined || tool === '.' ? undefined : stored + tool;
}

/** The displayed form of a stored qualified pattern. */
export function toShownPattern(stored: string, servers: readonly NamedServer[]): string {
  const [server, tool] = cut(stored);
  return toShownServer(server, servers) + tool;
}

/** Splits a pattern into its server part and the rest with its dot; the rest is empty if the pattern means the whole server. */
function cut(pattern: string): [server: string, tool: string] {
  const at = pattern.indexOf('.');
  return at === -1 ? [pattern, ''] : [pattern.slice(0, at), pattern.slice(at)];
}

/**
 * The servers, plus a placeholder for each deleted server that a stored pattern names, so that such patterns can be written again.
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
