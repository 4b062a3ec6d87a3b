/**
 * What a server's monitor tells the clients' objects: that a list changed, that a resource did. A
 * change of a list is noted in storage before it is told, so that a monitor that stops in between
 * tells it later. Clients are told a moment after the registry names the new catalog, when no
 * isolate answers with the old list any more.
 */
import type { ClientSession } from '../session/client-session-object.ts';
import type { ListName, News } from '../session/news.ts';
import { listStreamOwners } from '../session/stream-store.ts';
import { changedLists, listHashes, NO_LISTS, type ListHashes } from './changes.ts';
import type { Kind } from './catalog.ts';

/** Objects that are told at the same time. */
const AT_ONCE = 50;
const LISTS_KEY = 'lists';
const UNTOLD_KEY = 'untold';

export interface TellerOptions {
  storage: DurableObjectStorage;
  db: D1Database;
  objects: DurableObjectNamespace<ClientSession>;
  /** Time after which every isolate lists the new catalog, in milliseconds. */
  settleMs: number;
}

export class Teller {
  readonly #options: TellerOptions;

  constructor(options: TellerOptions) {
    this.#options = options;
  }

  /** Note which lists a new catalog changes. */
  async note(items: Record<Kind, readonly string[]>): Promise<void> {
    const { storage } = this.#options;
    const before = (await storage.get<ListHashes>(LISTS_KEY)) ?? NO_LISTS;
    const after = await listHashes(items);
    const untold = (await storage.get<ListName[]>(UNTOLD_KEY)) ?? [];
    const merged = [...new Set([...untold, ...changedLists(before, after)])];
    await storage.put({ [LISTS_KEY]: after, [UNTOLD_KEY]: merged });
  }

  /** Tell what was noted. */
  async tellChanges(serverId: string): Promise<void> {
    const { storage, db, settleMs } = this.#options;
    const lists = (await storage.get<ListName[]>(UNTOLD_KEY)) ?? [];
    if (lists.length === 0) return;
    await scheduler.wait(settleMs);
    await this.tell(await listStreamOwners(db), { serverId, lists });
    await storage.delete(UNTOLD_KEY);
  }

  /** The server is gone: every list it had has changed. @returns what tells of it */
  async farewell(serverId: string): Promise<() => Promise<void>> {
    const { storage, db, settleMs } = this.#options;
    const before = (await storage.get<ListHashes>(LISTS_KEY)) ?? NO_LISTS;
    const lists = changedLists(before, NO_LISTS);
    return async () => {
      if (lists.length === 0) return;
      await scheduler.wait(settleMs);
      await this.tell(await listStreamOwners(db), { serverId, lists });
    };
  }

  /** @returns the names of those that want to hear no more */
  async tell(owners: readonly string[], news: News): Promise<string[]> {
    const { objects } = this.#options;
    const done: string[] = [];
    for (let i = 0; i < owners.length; i += AT_ONCE) {
      await Promise.all(
        owners.slice(i, i + AT_ONCE).map(async owner => {
          const object = objects.get(objects.idFromName(owner));
          // An object that fails now must not keep the others from hearing.
          const wants = await object.announce(owner, news).catch(() => true);
          if (!wants) done.push(owner);
        }),
      );
    }
    return done;
  }
}
