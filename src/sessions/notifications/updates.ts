/** Batches the updates of resources for those who want them, however often a server sends them. */
import { Coalescing } from '../../shared/util/coalescing.ts';
import type { ResourceEvent } from '../../shared/events.ts';

/** Most updates that may wait, from one server for all clients and for one client, by number and by characters. */
const MOST_UPDATES = 5_000;
const MOST_UPDATE_CHARS = 8_388_608;
/** Shortest pause between two batches of updates, in milliseconds. */
const UPDATES_PAUSE_MS = 100;

/** Batches updates of resources: of several waiting updates of one resource only the last is sent. */
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

/** Key by which updates of one resource replace each other. */
export const updateKey = ({ serverId, uri }: ResourceEvent): string => `${serverId} ${uri}`;
