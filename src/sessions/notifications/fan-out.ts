/** Notifies the clients' objects of changes, a few at a time. */
import type { ObjectsByName } from '../../shared/util/objects-by-name.ts';
import type { ClientObject } from '../client-object.ts';
import type { ChangeEvent } from '../../shared/events.ts';

/** Objects that are notified at the same time. */
const AT_ONCE = 10;
/** Longest pause between two batches, in milliseconds. */
const MAX_PAUSE_MS = 250;

/**
 * Notifies the objects of a change. Each object is woken, writes to disk and has a Worker check its lists, so a pause as long as each batch
 * took leaves half of the time to requests.
 * @returns the names of those that want no further notifications
 */
export async function notifyOwners(
  objects: ObjectsByName<Pick<ClientObject, 'announce'>>,
  owners: readonly string[],
  change: ChangeEvent,
): Promise<string[]> {
  const done: string[] = [];
  for (let i = 0; i < owners.length; i += AT_ONCE) {
    const startedAt = Date.now();
    await Promise.all(
      owners.slice(i, i + AT_ONCE).map(async owner => {
        // An object that fails now must not keep the others from being notified.
        const wants = await objects
          .getByName(owner)
          .announce(owner, change)
          .catch(() => true);
        if (!wants) done.push(owner);
      }),
    );
    const isLast = i + AT_ONCE >= owners.length;
    if (!isLast) await scheduler.wait(Math.min(MAX_PAUSE_MS, Date.now() - startedAt));
  }
  return done;
}
