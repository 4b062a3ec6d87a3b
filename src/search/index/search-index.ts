/**
 * The search index: one segment for each catalog, named by the catalog's hash. An isolate takes a segment from its memory, else
 * from KV, where the server's monitor has put it, else makes it of the catalog for itself. A catalog that changes costs the segment of its
 * server only, and of that only the tools whose text is another.
 */
import type { Catalog, CatalogRef } from '../../servers/catalog/catalog.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { Embedding } from '../text/embedding.ts';
import type { EmbeddingSource } from '../text/embedding-asset.ts';
import { HeldParts } from './held-parts.ts';
import type { IndexPartPort } from './index-parts.ts';
import {
  buildSegment,
  readSegment,
  SEGMENT_VERSION,
  toSearchedTool,
  type Segment,
} from './segment.ts';

/** Bytes of segments in memory: a tool takes some 350 to 1,000. */
const MAX_BYTES = 16_777_216;

export interface IndexPorts {
  segments: IndexPartPort;
  embedding: EmbeddingSource;
  catalogsOf(servers: readonly Server[]): Promise<Catalog[]>;
}

/** A server with the hash of its current catalog. */
interface Current {
  server: Server;
  hash: string;
}

export class SearchIndex {
  readonly #ports: IndexPorts;
  readonly #held: HeldParts<Segment>;

  constructor(ports: IndexPorts, maxBytes = MAX_BYTES) {
    this.#ports = ports;
    this.#held = new HeldParts(maxBytes, ({ vectors }) => vectors.buffer.byteLength);
  }

  /** The segments of servers' current catalogs, in their order; undefined where there is none yet. */
  async segmentsOf(servers: readonly Server[]): Promise<(Segment | undefined)[]> {
    const now = Date.now();
    const known = new Map<string, Segment>();
    const missing: Current[] = [];
    for (const server of servers) {
      const { id, catalogHash: hash } = server;
      if (hash === null) continue;
      const held = this.#held.get(hash, now);
      if (held) known.set(id, held);
      else missing.push({ server, hash });
    }
    const segments = missing.length > 0 ? await this.#load(missing) : [];
    missing.forEach(({ server, hash }, i) => {
      const segment = segments[i];
      if (!segment) return;
      known.set(server.id, segment);
      this.#held.set(hash, segment, now);
    });
    return servers.map(({ id }) => known.get(id));
  }

  /** In their order, each from its own place; those that nobody stored are made. */
  async #load(wanted: readonly Current[]): Promise<(Segment | undefined)[]> {
    const refs = wanted.map(({ server, hash }): CatalogRef => ({ serverId: server.id, hash }));
    const found = await this.#ports.segments.findAll(refs);
    const segments = found.map(bytes => bytes && readSegment(bytes));
    const unmade = wanted.filter((_, i) => !segments[i]);
    const made = unmade.length > 0 ? await this.#make(unmade) : [];
    return segments.map(segment => segment ?? made.shift());
  }

  /** In their order. A catalog that nobody has any more, and stands in as empty, gives none. */
  async #make(wanted: readonly Current[]): Promise<(Segment | undefined)[]> {
    const catalogs = await this.#ports.catalogsOf(wanted.map(({ server }) => server));
    const embedding = await this.#ports.embedding();
    return wanted.map(({ hash }, i) => {
      const catalog = catalogs[i];
      if (catalog?.hash !== hash) return undefined;
      return readSegment(toSegmentBytes(catalog, embedding).buffer);
    });
  }
}

/**
 * Makes the catalogs of one server searchable before anybody asks: each new one, and one that is stored already but has no segment of
 * this form. What does not work here is no reason not to offer the catalog: it is tried again at the next look, made where it is asked
 * for meanwhile, and there is an error where that does not work either.
 */
export function createIndexer(
  segments: IndexPartPort,
  embedding: EmbeddingSource,
  indexed: IndexedPort,
): IndexCatalog {
  let last: Segment | undefined;
  return async (serverId, hash, readCatalog, isNew) => {
    try {
      const segment = `${SEGMENT_VERSION} ${hash}`;
      if (!isNew && (await indexed.find()) === segment) return;
      if (!isNew && (await segments.has(serverId, hash))) return await indexed.put(segment);
      const bytes = toSegmentBytes(readCatalog(), await embedding(), last);
      await segments.put(serverId, hash, bytes);
      last = readSegment(bytes.buffer);
      await indexed.put(segment);
    } catch {
      // The next look tries again.
    }
  };
}

/** The segment of a catalog. @param previous one of the same server, of which is taken what is still right */
export function toSegmentBytes(
  { tools }: Catalog,
  embedding: Embedding,
  previous?: Segment,
): Uint8Array<ArrayBuffer> {
  return buildSegment(
    tools.items.map(({ raw }) => toSearchedTool(raw)),
    embedding,
    previous,
  );
}

/** Where the name of the segment is that was stored last, so that nobody asks KV for it at each look. */
export interface IndexedPort {
  find(): Promise<string | undefined>;
  put(segment: string): Promise<void>;
}

/** Makes a catalog searchable. @param isNew whether it was stored just now */
export type IndexCatalog = (
  serverId: string,
  hash: string,
  readCatalog: () => Catalog,
  isNew: boolean,
) => Promise<void>;
