/**
 * Keeps the catalogs of one server: each is stored before a row names it, and the one before the last is deleted when the next is
 * named, since requests may still be using the last.
 */
import type { Looked } from '../upstream/watch.ts';
import { catalogHash, toCatalogText } from './catalog.ts';

/** Where catalogs are. */
export interface CatalogPort {
  put(serverId: string, hash: string, text: string): Promise<void>;
  delete(serverId: string, hash: string): Promise<void>;
}

const REPLACED_KEY = 'replaced';

export class CatalogKeeper {
  readonly #storage: DurableObjectStorage;
  readonly #catalogs: CatalogPort;

  constructor(storage: DurableObjectStorage, catalogs: CatalogPort) {
    this.#storage = storage;
    this.#catalogs = catalogs;
  }

  /**
   * Store what of a look may be offered.
   * @param known hash of the catalog that is stored already, if it can be trusted to be
   * @returns its hash
   */
  async keep(serverId: string, looked: Looked, known: string | null): Promise<string> {
    const { items, ttlMs, capabilities, instructions } = looked;
    const text = toCatalogText({ items, ttlMs, capabilities, instructions });
    const hash = await catalogHash(text);
    if (hash !== known) await this.#catalogs.put(serverId, hash, text);
    return hash;
  }

  /**
   * A row names a new catalog.
   * @param replaced hash of the one it named before
   * @param current hash of the one it names
   */
  async retire(serverId: string, replaced: string | null, current: string): Promise<void> {
    const older = await this.#storage.get<string>(REPLACED_KEY);
    if (older !== undefined && older !== replaced && older !== current) {
      await this.#catalogs.delete(serverId, older);
    }
    if (replaced !== null) await this.#storage.put(REPLACED_KEY, replaced);
  }
}
