/**
 * A model's share of a search: its vectors of the tools, from KV, and its vector of the query. A search does not wait long for either:
 * vectors that are missing or late take no part, and words and the static embedding are used alone.
 */
import { Lru } from '../../shared/util/lru.ts';
import type { Embedder } from '../../models/embedder-port.ts';
import { ModelFailure } from '../../models/model-port.ts';
import type { CatalogRef } from '../../servers/catalog/catalog.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { HeldParts } from '../index/held-parts.ts';
import type { IndexPartPort } from '../index/index-parts.ts';
import { readModelVectors, toModelVector, type ModelVectors } from '../index/model-vectors.ts';

/** If the model does not embed a query within this time, in milliseconds, the search goes on without it… */
const QUERY_MS = 1_000;
/** …and the model is not asked for this long, so that it slows few searches. */
const PAUSE_MS = 10_000;
/** Vectors that were not in KV are looked up again after this time, in milliseconds. */
const MISSING_MS = 2_000;
/** Vectors that did not fit in memory are looked up again after this time, in milliseconds. */
const FULL_MS = 60_000;
/** Bytes of vectors in memory: a quarter of an isolate's memory. */
const MAX_BYTES = 33_554_432;
const MAX_CATALOGS = 10_000;
/** How much of a query is sent to the model, in UTF-16 code units. */
const MAX_QUERY_CHARS = 2_000;

export interface ModelSearch {
  /** Returns the model's vectors for the servers' current catalogs, in their order; undefined where there are none yet. */
  vectorsOf(servers: readonly Server[]): Promise<(ModelVectors | undefined)[]>;
  /** Returns the vector of a query; undefined where the model did not return it in time. */
  vectorOf(query: string): Promise<Float32Array | undefined>;
}

export function createModelSearch(
  parts: IndexPartPort,
  embedder: Embedder,
  now: () => number = Date.now,
): ModelSearch {
  const held = new HeldParts<ModelVectors>(MAX_BYTES, ({ vectors }) => vectors.byteLength);
  const retryAt = new Lru<string, number>(MAX_CATALOGS);
  let embedAt = 0;
  return {
    async vectorsOf(servers) {
      const missing = servers.flatMap(({ id: serverId, catalogHash: hash }): CatalogRef[] => {
        const isKnown = hash === null || held.get(hash, now()) || now() < (retryAt.get(hash) ?? 0);
        return isKnown ? [] : [{ serverId, hash }];
      });
      // If they cannot be read now, they take no part, as if they were missing.
      const found = missing.length === 0 ? [] : await parts.findAll(missing).catch(() => []);
      missing.forEach(({ hash }, i) => {
        const bytes = found[i];
        const vectors = bytes && readModelVectors(bytes);
        if (!vectors) retryAt.set(hash, now() + MISSING_MS);
        else if (!held.set(hash, vectors, now())) retryAt.set(hash, now() + FULL_MS);
      });
      return servers.map(({ catalogHash: hash }) =>
        hash === null ? undefined : held.get(hash, now()),
      );
    },
    async vectorOf(query) {
      const text = query.slice(0, MAX_QUERY_CHARS);
      if (now() < embedAt || text.trim() === '') return undefined;
      try {
        const [values] = await embedder.embed([text], AbortSignal.timeout(QUERY_MS));
        return values && toModelVector(values);
      } catch (thrown) {
        if (!(thrown instanceof ModelFailure)) throw thrown;
        embedAt = now() + PAUSE_MS;
        return undefined;
      }
    },
  };
}
