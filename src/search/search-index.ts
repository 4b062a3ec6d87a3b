/**
 * The search index: one segment for each catalog, named by the catalog's hash. An isolate takes a segment from its memory, else
 * from KV, where the server's monitor has put it, else makes it of the catalog. A catalog that changes costs the segment of its
 * server only, and of that only the tools whose text is another.
 */
import type { Catalog } from '../catalog/catalog.ts';
import type { IndexCatalog } from '../catalog/catalog-keeper.ts';
import { Lru } from '../lib/lru.ts';
import type { Server } from '../registry/server-schema.ts';
import type { Embedding } from './embedding.ts';
import type { EmbeddingSource } from './embedding-asset.ts';
import type { SegmentPort } from './segment-kv.ts';
import { buildSegment, readSegment, toSearchedTool, type Segment } from './segment.ts';

const MAX_SEGMENTS = 200;

export interface IndexPorts {
  segments: SegmentPort;
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
    const segment =
      (await findSegment(this.#ports.segments, server.id, hash)) ??
      (await this.#make(server, hash));
    if (segment) this.#held.set(hash, segment);
    return segment;
  }

  /** A catalog that nobody has any more, and stands in as empty, gives none. */
  async #make(server: Server, hash: string): Promise<Segment | undefined> {
    const catalog = await this.#ports.catalogOf(server);
    if (catalog.hash !== hash) return undefined;
    const bytes = toSegmentBytes(catalog, await this.#ports.embedding());
    await this.#ports.segments.put(server.id, hash, bytes);
    return readSegment(bytes.buffer);
  }
}

/** A stored segment, unless there is none or it is of another form. */
export async function findSegment(
  segments: SegmentPort,
  serverId: string,
  hash: string,
): Promise<Segment | undefined> {
  const bytes = await segments.find(serverId, hash);
  return bytes && readSegment(bytes);
}

/**
 * Makes new catalogs searchable before anybody asks. What does not work here is no reason not to offer the catalog: it is made where
 * it is asked for, and there is an error where that does not work either.
 */
export function createIndexer(segments: SegmentPort, embedding: EmbeddingSource): IndexCatalog {
  return async (serverId, catalog, before) => {
    try {
      const previous = before === null ? undefined : await findSegment(segments, serverId, before);
      const bytes = toSegmentBytes(catalog, await embedding(), previous);
      await segments.put(serverId, catalog.hash, bytes);
    } catch {
      // Whoever searches makes it, or is told why that does not work.
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
