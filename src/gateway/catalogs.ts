/**
 * Catalogs for the request path: from the isolate's memory by hash, else from KV, else from the
 * server's monitor. Those of many servers are read together. Never asks an upstream.
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

/** Bytes of catalogs in memory: 10,000 tools with definitions of 500 characters take some 14 MB. */
const MAX_BYTES = 25_165_824;
/** What an item takes beside its text, in bytes: a map of some six members (measured: 834). */
const ITEM_BYTES = 850;

export interface CatalogSource {
  /** The texts of catalogs, in their order; undefined where nobody has one any more. */
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

  /** The current catalog of a server; empty where it is disconnected or was not discovered yet. */
  of(server: Server): Catalog | Promise<Catalog> {
    const ref = refOf(server);
    if (!ref) return EMPTY_CATALOG;
    const held = this.#held.get(ref.hash);
    if (held) return held.catalog;
    return this.#load([ref]).then(loaded => loaded.get(server.id) ?? EMPTY_CATALOG);
  }

  /** The same of many servers, in their order. */
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

  /** By the ids of the servers, each from its own place; what is gone is missing. */
  async #load(refs: readonly CatalogRef[]): Promise<Map<string, Catalog>> {
    const texts = await this.#source.find(refs);
    const loaded = new Map<string, Catalog>();
    refs.forEach(({ serverId, hash }, i) => {
      const text = texts[i];
      if (text === undefined) return;
      // Another server may have the same, and another request may have read it meanwhile.
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

/** What a catalog takes in memory: its text, which its items are parts of, and the items. */
function bytesOf(text: string, catalog: Catalog): number {
  const isLatin = !/[^\0-\u00ff]/.test(text);
  const items = KINDS.reduce((sum, kind) => sum + catalog[kind].items.length, 0);
  return text.length * (isLatin ? 1 : 2) + items * ITEM_BYTES;
}
