/**
 * The search index: one segment per catalog, named by the catalog's hash. An isolate takes a segment from memory, else from KV, where the
 * server's monitor stored it, else builds it from the catalog for itself. When a catalog changes, only its server's segment is rebuilt, and
 * only tools whose text changed are embedded again.
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

/** Bytes of segments kept in memory; one tool takes some 350 to 1,000. */
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

  /** Returns the segments of the servers' current catalogs, in their order; undefined where there is none yet. */
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

  /** Loads segments from KV and builds those that are not stored; in the order of `wanted`. */
  async #load(wanted: readonly Current[]): Promise<(Segment | undefined)[]> {
    const refs = wanted.map(({ server, hash }): CatalogRef => ({ serverId: server.id, hash }));
    const found = await this.#ports.segments.findAll(refs);
    const segments = found.map(bytes => bytes && readSegment(bytes));
    const unmade = wanted.filter((_, i) => !segments[i]);
    const made = unmade.length > 0 ? await this.#make(unmade) : [];
    return segments.map(segment => segment ?? made.shift());
  }

  /**
   * Builds segments, in the order of `wanted`. Where a catalog is no longer stored, an empty one stands in for it; that gives undefined.
   */
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
 * Indexes the catalogs of one server before anyone searches them: each new one, and one that is stored but has no segment of this version.
 * A failure does not hold back the catalog: the next discovery tries again, a search meanwhile builds the segment itself, and if that fails
 * too, the search fails.
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
      // The next discovery tries again.
    }
  };
}

/** Builds the segment of a catalog. @param previous one of the same server; vectors of unchanged texts are reused */
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

/** Remembers the name of the segment stored last, so that a discovery does not need to ask KV. */
export interface IndexedPort {
  find(): Promise<string | undefined>;
  put(segment: string): Promise<void>;
}

/** Makes a catalog searchable. @param isNew whether the catalog was stored just now */
export type IndexCatalog = (
  serverId: string,
  hash: string,
  readCatalog: () => Catalog,
  isNew: boolean,
) => Promise<void>;
