/**
 * Follows the servers of `portico up` at its start: waits until each is connected or has a reason why not, reports the count, and at the
 * end lists the missing ones with their reasons and the tools that wait for approval.
 */
import { SERVERS, type Api, type ServerRecord } from '../gateway/api.ts';
import type { ServerState } from '../connect/server-adapter.ts';

const POLL_MS = 250;
/** How long the gateway may disagree about a program that is ready, in milliseconds. */
const AGREE_MS = 10_000;

export interface Settling {
  api: Api;
  names: readonly string[];
  /** State of a program by name; undefined for other servers. */
  stateOf(name: string): ServerState | undefined;
  /** Called with the number of connected servers when it changes. */
  onCount(there: number, of: number): void;
}

const isThere = ({ status }: ServerRecord) => status === 'CONNECTED' || status === 'DEGRADED';

/** Waits until no server is still starting, or the time is over. @returns their records at that moment */
export async function whenSettled(settling: Settling, timeoutMs: number): Promise<ServerRecord[]> {
  const { api, names, stateOf, onCount } = settling;
  const deadline = Date.now() + timeoutMs;
  const readyAt = new Map<string, number>();
  const wantedNames = new Set(names);
  let counted = -1;
  const isSettled = (server: ServerRecord): boolean => {
    const state = stateOf(server.name);
    if (isThere(server)) return true;
    if (state === 'starting' || server.status === 'CONNECTING') return false;
    if (state !== 'ready') return true;
    const since = readyAt.get(server.name) ?? Date.now();
    readyAt.set(server.name, since);
    return Date.now() - since > AGREE_MS;
  };
  for (;;) {
    const servers = await api.list<ServerRecord>(SERVERS, 'servers');
    const wanted = servers.filter(({ name }) => wantedNames.has(name));
    const there = wanted.filter(isThere).length;
    if (there !== counted) onCount(there, names.length);
    counted = there;
    const areSettled = wanted.map(isSettled);
    const isDone = wanted.length === names.length && areSettled.every(Boolean);
    if (isDone || Date.now() > deadline) return wanted;
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
