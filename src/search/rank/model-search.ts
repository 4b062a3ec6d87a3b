/**
 * The part of a search that a model takes: the vectors it made of tools, from KV, and its vector of a query. Neither is waited for long: what is not
 * there, or does not come, takes no part, and words and the table find what they find.
 */
import { Lru } from '../../shared/util/lru.ts';
import type { Embedder } from '../../models/embedder-port.ts';
import { ModelFailure } from '../../models/model-port.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { HeldVectors } from '../index/held-vectors.ts';
import type { IndexPartPort } from '../index/index-parts.ts';
import { readModelVectors, toModelVector, type ModelVectors } from '../index/model-vectors.ts';

/** A model that does not answer a query within this time, in milliseconds, takes no part in the search… */
const QUERY_MS = 1_000;
/** …and is not asked again for this long, so that it makes few searches slow. */
const PAUSE_MS = 10_000;
/** Vectors that were not there are looked for again after this time, in milliseconds. */
const LOOK_MS = 2_000;
/** Vectors for which there was no room are looked for again after this time, in milliseconds. */
const FULL_MS = 60_000;
const MAX_CATALOGS = 1_000;
/** How much of a query is told to the model, in UTF-16 code units. */
const MAX_QUERY_CHARS = 2_000;

export interface ModelSearch {
  /** What the model made of the tools of a server's current catalog; undefined where there is nothing yet. */
  vectorsOf(server: Server): Promise<ModelVectors | undefined>;
  /** The vector of a query; undefined where the model did not make it in time. */
  vectorOf(query: string): Promise<Float32Array | undefined>;
}

export function createModelSearch(
  parts: IndexPartPort,
  embedder: Embedder,
  now: () => number = Date.now,
): ModelSearch {
  const held = new HeldVectors();
  const lookAt = new Lru<string, number>(MAX_CATALOGS);
  let askAt = 0;
  return {
    async vectorsOf({ id, catalogHash: hash }) {
      if (hash === null) return undefined;
      const known = held.get(hash, now());
      if (known || now() < (lookAt.get(hash) ?? 0)) return known;
      const bytes = await parts.find(id, hash);
      const vectors = bytes && readModelVectors(bytes);
      if (!vectors) lookAt.set(hash, now() + LOOK_MS);
      else if (!held.set(hash, vectors, now())) lookAt.set(hash, now() + FULL_MS);
      return held.get(hash, now());
    },
    async vectorOf(query) {
      const text = query.slice(0, MAX_QUERY_CHARS);
      if (now() < askAt || text.trim() === '') return undefined;
      try {
        const [values] = await embedder.embed([text], AbortSignal.timeout(QUERY_MS));
        return values && toModelVector(values);
      } catch (thrown) {
        if (!(thrown instanceof ModelFailure)) throw thrown;
        askAt = now() + PAUSE_MS;
        return undefined;
      }
    },
  };
}
