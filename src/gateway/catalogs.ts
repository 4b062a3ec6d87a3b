/**
 * Catalogs for the request path: from the isolate's memory by hash, else from KV, else from the
 * server's monitor. Never asks an upstream.
 */
import { Lru } from '../shared/util/lru.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import { EMPTY_CATALOG, parseCatalog, type Catalog } from '../servers/catalog/catalog.ts';

const MAX_CATALOGS = 200;

export interface CatalogSource {
  /** The text of a catalog, or undefined where nobody has it any more. */
  find(serverId: string, hash: string): Promise<string | undefined>;
}

export class Catalogs {
  readonly #source: CatalogSource;
  readonly #held = new Lru<string, Catalog>(MAX_CATALOGS);

  constructor(source: CatalogSource) {
    this.#source = source;
  }

  /** The current catalog of a server; empty where it is disconnected or was not discovered yet. */
  of(server: Server): Catalog | Promise<Catalog> {
    if (server.catalogHash === null || !isOffered(server.status)) return EMPTY_CATALOG;
    return this.#held.get(server.catalogHash) ?? this.#load(server.id, server.catalogHash);
  }

  async #load(serverId: string, hash: string): Promise<Catalog> {
    const text = await this.#source.find(serverId, hash);
    if (text === undefined) return EMPTY_CATALOG;
    const catalog = parseCatalog(hash, text);
    this.#held.set(hash, catalog);
    return catalog;
  }
}
