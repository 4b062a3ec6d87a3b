/**
 * Keeps the catalogs of one server: each is stored with its part of the search index before a row names it, and the one before the
 * last is deleted when the next is named, since requests may still be using the last.
 */
import type { DiscoveryResult } from '../upstream/discovery/discover.ts';
import type { IndexCatalog } from '../search/index/search-index.ts';
import { catalogHash, parseCatalog, toCatalogText } from '../servers/catalog/catalog.ts';

/** Where catalogs are. */
export interface CatalogPort {
  put(serverId: string, hash: string, text: string): Promise<void>;
  find(serverId: string, hash: string): Promise<string | undefined>;
  /** Deletes a catalog and what was made of it. */
  delete(serverId: string, hash: string): Promise<void>;
}

const REPLACED_KEY = 'replaced';

export interface CatalogWriterPorts {
  storage: DurableObjectStorage;
  catalogs: CatalogPort;
  index: IndexCatalog;
}

export class CatalogWriter {
  readonly #ports: CatalogWriterPorts;

  constructor(ports: CatalogWriterPorts) {
    this.#ports = ports;
  }

  /**
   * Store what of a look may be offered.
   * @param named hash of the catalog that the row names
   * @param rewrite whether also a catalog is stored that the row names already
   * @returns its hash
   */
  async keep(
    serverId: string,
    discovery: DiscoveryResult,
    named: string | null,
    rewrite: boolean,
  ): Promise<string> {
    const text = toCatalogText(discovery);
    const hash = await catalogHash(text);
    const isNew = hash !== named || rewrite;
    const { catalogs, index } = this.#ports;
    if (isNew) await catalogs.put(serverId, hash, text);
    await index(serverId, hash, () => parseCatalog(hash, text), isNew);
    return hash;
  }

  /** The text of the catalog that a row names, where it is still there. */
  async last(serverId: string, named: string | null): Promise<string | undefined> {
    return named === null ? undefined : this.#ports.catalogs.find(serverId, named);
  }

  /**
   * A row names a new catalog.
   * @param replaced hash of the one it named before
   * @param current hash of the one it names
   */
  async retire(serverId: string, replaced: string | null, current: string): Promise<void> {
    const { storage, catalogs } = this.#ports;
    const older = await storage.get<string>(REPLACED_KEY);
    if (older !== undefined && older !== replaced && older !== current) {
      await catalogs.delete(serverId, older);
    }
    if (replaced !== null) await storage.put(REPLACED_KEY, replaced);
  }
}
