/**
 * Watches what a caller sees and reports changes. Polls the current registry: a poll without a change reads ten rows, or none if a call has
 * just read them. Pure except for its ports.
 */
import type { Snapshot } from '../access/admission/snapshots.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { administers, administersAll, hasScope, type Scope } from '../shared/identity/principal.ts';

export const WATCH_SCOPE: Scope = 'servers:read';
/** Time between two polls, in milliseconds, and the number of polls: a stream lasts five minutes. */
const POLL_MS = 2_000;
export const POLLS = 150;

/** `servers`: a server or its held definitions changed. `access`: a rule, a toolset, a group's rights or a budget changed. */
export const CHANGES = ['servers', 'access'] as const;
export type Change = (typeof CHANGES)[number];

export interface WatchPorts {
  /** Loads the current snapshot; undefined if the caller's credential is no longer valid. */
  load(): Promise<Snapshot | undefined>;
  wait(ms: number): Promise<unknown>;
  /** The client is gone, or the gateway is stopping. */
  isOver(): boolean;
}

/**
 * Polls until it is over, at most five minutes.
 * @param first the snapshot that the caller knows already
 * @throws PorticoError `unauthorized` as soon as the caller may not watch any more
 */
export async function watchChanges(
  first: Snapshot,
  ports: WatchPorts,
  onChanges: (changes: readonly Change[]) => void,
): Promise<void> {
  let before = first;
  for (let polls = 0; polls < POLLS; polls += 1) {
    await ports.wait(POLL_MS);
    if (ports.isOver()) return;
    const now = await ports.load();
    if (!now || !hasScope(now.caller, WATCH_SCOPE)) throw new PorticoError('unauthorized');
    const changes = changesOf(before, now);
    if (changes.length > 0) onChanges(changes);
    before = now;
  }
}

/** Unchanged records are the same objects. */
function changesOf(before: Snapshot, now: Snapshot): Change[] {
  return [
    ...(hasOtherServers(before, now) ? (['servers'] as const) : []),
    ...(administersAll(now.caller) && before.access !== now.access ? (['access'] as const) : []),
  ];
}

/** Compares only servers within the caller's limits, so that nothing shows of others. */
function hasOtherServers(before: Snapshot, now: Snapshot): boolean {
  if (before.servers === now.servers) return false;
  const [were, are] = [before, now].map(({ caller, servers }) =>
    servers.filter(server => administers(caller, server)),
  );
  return are?.length !== were?.length || !!are?.some((server, at) => server !== were?.[at]);
}
