/**
 * Notifies the clients' objects that a server's list or resource changed. A changed list is noted in storage before the notification, so
 * that a monitor that stops in between notifies later. A rename changes every list, since the items get other names. Notifications go out a
 * moment after the registry names the new catalog, when no isolate answers with the old list any more. Notes are read and written without a
 * wait in between, so that none is lost.
 */
import type { ClientObject } from '../sessions/client-object.ts';
import type { ObjectsByName } from '../shared/util/objects-by-name.ts';
import type { ListName, ChangeEvent } from '../shared/events.ts';
import { listStreamOwners } from '../sessions/notifications/stream-store.ts';
import { notifyOwners } from '../sessions/notifications/fan-out.ts';
import type { CatalogWriter } from './catalog-writer.ts';
import { changedLists, listHashes, NO_LISTS, type ListHashes } from './changes.ts';
import { itemsOf } from './last-lists.ts';
import { STAND_IN } from '../gateway/stand-in.ts';
import { isOffered, type ServerStatus } from '../servers/registry/status.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { Kind } from '../servers/catalog/catalog.ts';

const LISTS_KEY = 'lists';
const PENDING_KEY = 'untold';
const SENDING_KEY = 'telling';
const NAME_KEY = 'name';
const LOST_KEY = 'lost';
const UNNAMED_KEY = 'unnamed';

/**
 * Rest between two batches of list notifications, in milliseconds: four times as long as a batch took, within these bounds. If a server's
 * lists change constantly, its clients are notified less often the more of them there are.
 */
const MIN_REST_MS = 500;
const MAX_REST_MS = 10_000;
/** Notifications that could not be sent are sent again after this time, in milliseconds. */
const FAILED_MS = 15_000;

export interface ChangeNotifierOptions {
  storage: DurableObjectStorage;
  db: D1Database;
  objects: ObjectsByName<Pick<ClientObject, 'announce'>>;
  /** Time after which every isolate lists the new catalog, in milliseconds. */
  settleMs: number;
  /** Schedules another `notifyChanges`. */
  wake(at: number): Promise<void>;
}

export class ChangeNotifier {
  readonly #options: ChangeNotifierOptions;
  #turn: Promise<unknown> = Promise.resolve();
  /** No list notification goes out before this time. */
  #restUntil = 0;

  constructor(options: ChangeNotifierOptions) {
    this.#options = options;
  }

  /** Notes which lists a new catalog changes; clients are notified once `noteNamed` was called, when they can list it. */
  async note(items: Record<Kind, readonly string[]>): Promise<void> {
    if (await this.#noteItems(items)) this.#options.storage.kv.put(UNNAMED_KEY, true);
  }

  async #noteItems(items: Record<Kind, readonly string[]>): Promise<boolean> {
    const hashes = await listHashes(items);
    if (this.isLost) this.#options.storage.kv.delete(LOST_KEY);
    return this.#noteHashes(hashes);
  }

  /** Whether lists were noted of a catalog that no row named. */
  get isUnnamed(): boolean {
    return this.#options.storage.kv.get(UNNAMED_KEY) === true;
  }

  /** The row names the catalog whose lists were noted. */
  noteNamed(): void {
    const { kv } = this.#options.storage;
    if (kv.get(UNNAMED_KEY)) kv.delete(UNNAMED_KEY);
  }

  /** Whether requests list nothing of the server, since the catalog that its row names is stored nowhere. */
  get isLost(): boolean {
    return this.#options.storage.kv.get(LOST_KEY) === true;
  }

  /** Notes that a catalog which a request missed could not be rebuilt. The next discovery stores it again. */
  async noteLost(
    { id, catalogHash }: Pick<Server, 'id' | 'catalogHash'>,
    catalogs: Pick<CatalogWriter, 'last'>,
  ): Promise<void> {
    if (catalogHash === null || (await catalogs.last(id, catalogHash)) !== undefined) return;
    this.#options.storage.kv.put(LOST_KEY, true);
    this.noteGone();
  }

  /**
   * Notes that a server was checked but could not be read. If it was not offered before, its last catalog is listed again; without one, a
   * server with per-principal accounts lists a stand-in tool.
   */
  async noteUnread(
    { id, catalogHash, accounts, status: before }: Server,
    status: ServerStatus,
    catalogs: Pick<CatalogWriter, 'last'>,
  ): Promise<void> {
    if (!isOffered(status)) return;
    if (catalogHash !== null) {
      const last = isOffered(before) ? undefined : await catalogs.last(id, catalogHash);
      if (last !== undefined) await this.#noteItems(itemsOf(last));
    } else if (accounts === 'per_principal') {
      await this.#noteItems({
        tools: [STAND_IN],
        resources: [],
        resourceTemplates: [],
        prompts: [],
      });
    }
  }

  /** @returns whether any list changed */
  #noteHashes(after: ListHashes): boolean {
    const { kv } = this.#options.storage;
    const changed = changedLists(kv.get<ListHashes>(LISTS_KEY) ?? NO_LISTS, after);
    if (changed.length === 0) return false;
    kv.put(LISTS_KEY, after);
    this.#notePending(changed);
    return true;
  }

  #notePending(lists: readonly ListName[]): void {
    const { kv } = this.#options.storage;
    kv.put(PENDING_KEY, [...new Set([...(kv.get<ListName[]>(PENDING_KEY) ?? []), ...lists])]);
  }

  /** The name by which clients know the server; undefined before it was noted. */
  get name(): string | undefined {
    return this.#options.storage.kv.get<string>(NAME_KEY);
  }

  /** Notes the name by which clients know the server. */
  noteName(name: string): void {
    const { kv } = this.#options.storage;
    const before = this.name;
    if (before === name) return;
    kv.put(NAME_KEY, name);
    const lists = kv.get<ListHashes>(LISTS_KEY) ?? NO_LISTS;
    if (before !== undefined) this.#notePending(changedLists(lists, NO_LISTS));
  }

  /** Notes that all lists are empty now. */
  noteGone(): void {
    this.#noteHashes(NO_LISTS);
    this.noteNamed();
  }

  /** Sends what was noted; what is noted meanwhile goes with the next batch. What cannot be sent stays noted and is sent later. */
  notifyChanges(serverId: string): Promise<void> {
    const { storage, wake } = this.#options;
    const sending = this.#turn.then(() => this.#notifyPending(serverId));
    const result = sending.catch(async () => {
      // Of a server that was deleted meanwhile nothing is left.
      if (storage.kv.get(SENDING_KEY) !== undefined) await wake(Date.now() + FAILED_MS);
    });
    this.#turn = result.catch(() => {});
    return result;
  }

  async #notifyPending(serverId: string): Promise<void> {
    const { db, settleMs } = this.#options;
    const { kv } = this.#options.storage;
    const pending = kv.get<ListName[]>(PENDING_KEY) ?? [];
    const lists = [...new Set([...(kv.get<ListName[]>(SENDING_KEY) ?? []), ...pending])];
    if (lists.length === 0 || kv.get(UNNAMED_KEY)) return;
    kv.put(SENDING_KEY, lists);
    kv.delete(PENDING_KEY);
    await scheduler.wait(Math.max(settleMs, this.#restUntil - Date.now()));
    const startedAt = Date.now();
    await this.notify(await listStreamOwners(db), { serverId, lists });
    const now = Date.now();
    this.#restUntil = now + Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, 4 * (now - startedAt)));
    kv.delete(SENDING_KEY);
  }

  /** Prepares the notification that the server is gone, which changes every list it had. @returns a function that sends it */
  async prepareRemoval(serverId: string): Promise<() => Promise<void>> {
    const { storage, db, settleMs } = this.#options;
    const before = (await storage.get<ListHashes>(LISTS_KEY)) ?? NO_LISTS;
    const lists = changedLists(before, NO_LISTS);
    const send = async () => {
      if (lists.length === 0) return;
      await scheduler.wait(settleMs);
      await this.notify(await listStreamOwners(db), { serverId, lists });
    };
    // No alarm is left that would repeat it.
    return () => send().catch(() => scheduler.wait(FAILED_MS).then(send));
  }

  /** @returns the names of the owners that want no more notifications */
  notify(owners: readonly string[], change: ChangeEvent): Promise<string[]> {
    return notifyOwners(this.#options.objects, owners, change);
  }
}
