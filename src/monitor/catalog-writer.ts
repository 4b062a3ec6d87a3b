/**
 * Writes the catalogs of one server. Each is stored with its part of the search index before the row names it. The last but one is deleted
 * when the next is named, since requests may still use the last.
 */
import type { DiscoveryResult } from '../upstream/discovery/discover.ts';
import type { IndexCatalog } from '../search/index/search-index.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { catalogHash, parseCatalog, toCatalogText } from '../servers/catalog/catalog.ts';

/** Storage of catalogs. */
export interface CatalogPort {
  put(serverId: string, hash: string, text: string): Promise<void>;
  find(serverId: string, hash: string): Promise<string | undefined>;
  /** Deletes a catalog and the data derived from it. */
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
   * Stores the publishable part of a discovery.
   * @param named hash of the catalog that the row names
   * @param rewrite also store the catalog if the row names it already
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

  /** Returns the text of the catalog that a row names, if it still exists. */
  async last(serverId: string, named: string | null): Promise<string | undefined> {
    return named === null ? undefined : this.#ports.catalogs.find(serverId, named);
  }

  /**
   * Retires the catalog that a row no longer names, or the found one if the row, by now of another generation, does not name that.
   * @param server as it was before
   */
  async retire(
    { id: serverId, catalogHash: before }: Pick<Server, 'id' | 'catalogHash'>,
    found: string,
    isNamed: boolean,
  ): Promise<void> {
    const { storage, catalogs } = this.#ports;
    const [replaced, current] = isNamed ? [before, found] : [found, before];
    const older = await storage.get<string>(REPLACED_KEY);
    if (older !== undefined && older !== replaced && older !== current) {
      await catalogs.delete(serverId, older);
    }
    if (replaced !== null) await storage.put(REPLACED_KEY, replaced);
  }
}
