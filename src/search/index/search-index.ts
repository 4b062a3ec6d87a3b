/**
 * The search index: one segment for each catalog, named by the catalog's hash. An isolate takes a segment from its memory, else
 * from KV, where the server's monitor has put it, else makes it of the catalog for itself. A catalog that changes costs the segment of its
 * server only, and of that only the tools whose text is another.
 */
import type { Catalog } from '../../servers/catalog/catalog.ts';
import { Lru } from '../../shared/util/lru.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { Embedding } from '../text/embedding.ts';
import type { EmbeddingSource } from '../text/embedding-asset.ts';
import type { IndexPartPort } from './index-parts.ts';
import {
  buildSegment,
  readSegment,
  SEGMENT_VERSION,
  toSearchedTool,
  type Segment,
} from './segment.ts';

const MAX_SEGMENTS = 200;

export interface IndexPorts {
  segments: IndexPartPort;
  embedding: EmbeddingSource;
  catalogOf(server: Server): Catalog | Promise<Catalog>;
}

export class SearchIndex {
  readonly #ports: IndexPorts;
  readonly #held = new Lru<string, Segment>(MAX_SEGMENTS);

  constructor(ports: IndexPorts) {
    this.#ports = ports;
  }

  /** The segment of a server's current catalog; undefined where it has none yet. */
  segmentOf(server: Server): Segment | undefined | Promise<Segment | undefined> {
    if (server.catalogHash === null) return undefined;
    return this.#held.get(server.catalogHash) ?? this.#load(server, server.catalogHash);
  }

  async #load(server: Server, hash: string): Promise<Segment | undefined> {
    const bytes = await this.#ports.segments.find(server.id, hash);
    const segment = (bytes && readSegment(bytes)) ?? (await this.#make(server, hash));
    if (segment) this.#held.set(hash, segment);
    return segment;
  }

  /** A catalog that nobody has any more, and stands in as empty, gives none. */
  async #make(server: Server, hash: string): Promise<Segment | undefined> {
    const catalog = await this.#ports.catalogOf(server);
    if (catalog.hash !== hash) return undefined;
    return readSegment(toSegmentBytes(catalog, await this.#ports.embedding()).buffer);
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
