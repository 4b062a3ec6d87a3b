/** Updates of resources on their way to those who want to hear of them: however often a server tells, they are told on in rounds. */
import { Coalescing } from '../../shared/util/coalescing.ts';
import type { ResourceEvent } from '../../shared/events.ts';

/** How much may wait to be told of resources, of one server to all and to one client: updates, and characters of them. */
const MOST_UPDATES = 5_000;
const MOST_UPDATE_CHARS = 8_388_608;
/** Shortest time between two rounds in which is told of resources, in milliseconds. */
const UPDATES_PAUSE_MS = 100;

/** Updates of resources, in rounds: of one resource the last that waits is told. */
export function createUpdates<R>(
  work: (change: readonly ResourceEvent[]) => Promise<R>,
): Coalescing<ResourceEvent, R> {
  return new Coalescing({
    work,
    pauseMs: UPDATES_PAUSE_MS,
    most: MOST_UPDATES,
    mostWeight: MOST_UPDATE_CHARS,
    weightOf: ({ uri, params }) => uri.length + params.length,
    wait: ms => scheduler.wait(ms),
  });
}

/** The kind of an update. */
export const updateKey = ({ serverId, uri }: ResourceEvent): string => `${serverId} ${uri}`;
