/**
 * What changed of what somebody sees, told while they look. The registry of this moment is looked at again and again: a look where nothing
 * changed reads ten rows, and none where a call has just read it. Pure but for its ports.
 */
import type { Snapshot } from '../access/admission/snapshots.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { administers, administersAll, hasScope, type Scope } from '../shared/identity/principal.ts';

/** What it takes to be told. */
export const WATCH_SCOPE: Scope = 'servers:read';
/** Between two looks, in milliseconds, and how many there are: a stream lasts five minutes. */
const LOOK_MS = 2_000;
export const LOOKS = 150;

/** `servers`: one of them, or what is held of it. `access`: a rule, a toolset, a group's rights or a budget. */
export const CHANGES = ['servers', 'access'] as const;
export type Change = (typeof CHANGES)[number];

export interface WatchPorts {
  /** What may be seen now; undefined where who asked is nobody any more. */
  load(): Promise<Snapshot | undefined>;
  wait(ms: number): Promise<unknown>;
  /** Nobody listens any more, or the gateway stops. */
  isOver(): boolean;
}

/**
 * Look until it is over, or for five minutes.
 * @param first what is known already
 * @throws PorticoError `unauthorized` once who asked may not look any more
 */
export async function watchChanges(
  first: Snapshot,
  ports: WatchPorts,
  tell: (changes: readonly Change[]) => void,
): Promise<void> {
  let before = first;
  for (let looks = 0; looks < LOOKS; looks += 1) {
    await ports.wait(LOOK_MS);
    if (ports.isOver()) return;
    const now = await ports.load();
    if (!now || !hasScope(now.caller, WATCH_SCOPE)) throw new PorticoError('unauthorized');
    const changes = changesOf(before, now);
    if (changes.length > 0) tell(changes);
    before = now;
  }
}

/** Records that did not change are the same objects. */
function changesOf(before: Snapshot, now: Snapshot): Change[] {
  return [
    ...(hasOtherServers(before, now) ? (['servers'] as const) : []),
    ...(administersAll(now.caller) && before.access !== now.access ? (['access'] as const) : []),
  ];
}

/** Of the servers within the caller's limits: of others nothing is told. */
function hasOtherServers(before: Snapshot, now: Snapshot): boolean {
  if (before.servers === now.servers) return false;
  const [were, are] = [before, now].map(({ caller, servers }) =>
    servers.filter(server => administers(caller, server)),
  );
  return are?.length !== were?.length || !!are?.some((server, at) => server !== were?.[at]);
}
