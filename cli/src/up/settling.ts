/**
 * Follows the servers of `portico up` at its start: waits until each is connected or has a reason why not, reports the count, and at the
 * end lists the missing ones with their reasons and the tools that wait for approval.
 */
import { SERVERS, type Api, type ServerRecord } from '../gateway/api.ts';
import type { ServerState } from '../connect/server-adapter.ts';

const POLL_MS = 250;
/** How long the gateway may disagree about a program that is ready, or not know one, in milliseconds. */
const AGREE_MS = 10_000;

export interface Settling {
  api: Api;
  names: readonly string[];
  /** State of a program by name; undefined for other servers. */
  stateOf(name: string): ServerState | undefined;
  /** Name in the registry. */
  nameOf(name: string): string;
  /** Called with the number of connected servers when it changes. */
  onCount(there: number, of: number): void;
}

const isThere = ({ status }: ServerRecord) => status === 'CONNECTED' || status === 'DEGRADED';

/** Waits until no server is still starting, or the time is over. @returns the records of those that the gateway knows */
export async function whenSettled(settling: Settling, timeoutMs: number): Promise<ServerRecord[]> {
  const { api, names, stateOf, nameOf, onCount } = settling;
  const deadline = Date.now() + timeoutMs;
  const readyAt = new Map<string, number>();
  let counted = -1;
  /** @param server its record; the gateway may have refused it, so that there is none */
  const isSettled = (name: string, server: ServerRecord | undefined): boolean => {
    const state = stateOf(name);
    if (server && isThere(server)) return true;
    if (state === 'starting' || server?.status === 'CONNECTING') return false;
    if (state === undefined || (server && state !== 'ready')) return true;
    const since = readyAt.get(name) ?? Date.now();
    readyAt.set(name, since);
    return Date.now() - since > AGREE_MS;
  };
  for (;;) {
    const servers = await api.list<ServerRecord>(SERVERS, 'servers');
    // The registry knows names in any case.
    const byName = new Map(servers.map(server => [server.name.toLowerCase(), server]));
    const recordOf = (name: string) => byName.get(nameOf(name).toLowerCase());
    const wanted = names.flatMap(name => recordOf(name) ?? []);
    const there = wanted.filter(isThere).length;
    if (there !== counted) onCount(there, names.length);
    counted = there;
    const areSettled = names.map(name => isSettled(name, recordOf(name)));
    if (areSettled.every(Boolean) || Date.now() > deadline) return wanted;
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
}

/** Lines for people about servers that are not, or only partly, connected. @param held the tools that wait for approval, in words */
export function toNotes(servers: readonly ServerRecord[], held: string | undefined): string[] {
  const gone = servers.filter(({ status }) => status !== 'CONNECTED');
  return [
    ...gone.map(
      ({ name, status, last_error: why }) => `${name} is ${status}${why ? `: ${why}` : ''}`,
    ),
    ...(held === undefined ? [] : [held]),
  ];
}
