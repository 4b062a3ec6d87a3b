/**
 * Loads catalogs on the request path: from the isolate's memory by hash, else from KV, else from the server's monitor. Catalogs of many
 * servers are read together. Never sends a request upstream.
 */
import { Lru } from '../shared/util/lru.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import {
  EMPTY_CATALOG,
  KINDS,
  parseCatalog,
  type Catalog,
  type CatalogRef,
} from '../servers/catalog/catalog.ts';

/** Limit for catalogs in memory, in bytes: 10,000 tools with definitions of 500 characters take some 14 MB. */
const MAX_BYTES = 25_165_824;
/** Bytes of an item besides its text: a map of some six members (measured: 834). */
const ITEM_BYTES = 850;

export interface CatalogSource {
  /** Returns the texts of catalogs, in order; undefined for one that is stored nowhere any more. */
  find(refs: readonly CatalogRef[]): Promise<(string | undefined)[]>;
}

interface Held {
  catalog: Catalog;
  bytes: number;
}

export class Catalogs {
  readonly #source: CatalogSource;
  readonly #held: Lru<string, Held>;

  constructor(source: CatalogSource, maxBytes = MAX_BYTES) {
    this.#source = source;
    this.#held = new Lru<string, Held>(maxBytes, ({ bytes }) => bytes);
  }

  /** Returns the current catalog of a server; empty if the server is disconnected or was not discovered yet. */
  of(server: Server): Catalog | Promise<Catalog> {
    const ref = refOf(server);
    if (!ref) return EMPTY_CATALOG;
    const held = this.#held.get(ref.hash);
    if (held) return held.catalog;
    return this.#load([ref]).then(loaded => loaded.get(server.id) ?? EMPTY_CATALOG);
  }

  /** Returns the current catalogs of many servers, in order. */
  async ofAll(servers: readonly Server[]): Promise<Catalog[]> {
    const known = new Map<string, Catalog>();
    const missing = new Map<string, CatalogRef>();
    for (const server of servers) {
      const ref = refOf(server);
      const held = ref && this.#held.get(ref.hash);
      if (held) known.set(server.id, held.catalog);
      else if (ref) missing.set(server.id, ref);
    }
    const loaded = missing.size > 0 ? await this.#load([...missing.values()]) : known;
    return servers.map(({ id }) => known.get(id) ?? loaded.get(id) ?? EMPTY_CATALOG);
  }

  /** Loads catalogs, each from its own source, by the ids of their servers; those that are gone are missing. */
  async #load(refs: readonly CatalogRef[]): Promise<Map<string, Catalog>> {
    const texts = await this.#source.find(refs);
    const loaded = new Map<string, Catalog>();
    refs.forEach(({ serverId, hash }, i) => {
      const text = texts[i];
      if (text === undefined) return;
      // Another server may have the same catalog, and another request may have loaded it meanwhile.
      const held = this.#held.get(hash);
      const catalog = held?.catalog ?? parseCatalog(hash, text);
      if (!held) this.#held.set(hash, { catalog, bytes: bytesOf(text, catalog) });
      loaded.set(serverId, catalog);
    });
    return loaded;
  }
}

function refOf({ id, status, catalogHash }: Server): CatalogRef | undefined {
  if (catalogHash === null || !isOffered(status)) return undefined;
  return { serverId: id, hash: catalogHash };
}

/** Returns the bytes of a catalog in memory: its text, which its items are slices of, and the items. */
function bytesOf(text: string, catalog: Catalog): number {
  const isLatin = !/[^\0-\u00ff]/.test(text);
  const items = KINDS.reduce((sum, kind) => sum + catalog[kind].items.length, 0);
  return text.length * (isLatin ? 1 : 2) + items * ITEM_BYTES;
}
