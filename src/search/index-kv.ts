/**
 * Parts of the search index in KV, beside the catalog each is of, under `catalog/{server}/{hash}/…`: written once, never changed. They go with
 * the catalog.
 */
import { shortHash } from '../lib/short-hash.ts';
import type { IndexPartPort, IndexParts } from './index-parts.ts';
import { MODEL_VECTORS_VERSION } from './model-vectors.ts';
import { SEGMENT_VERSION } from './segment.ts';

/** Key of the segment of a catalog, in the form of this version. */
export const segmentKey = (serverId: string, hash: string): string =>
  `catalog/${serverId}/${hash}/index-${SEGMENT_VERSION}`;

/** What one namespace has of the index. */
export const createIndexParts = (kv: KVNamespace): IndexParts => ({
  segments: createPort(kv, segmentKey),
  modelVectorsOf(model) {
    const part = `vectors-${MODEL_VECTORS_VERSION}-${shortHash(model)}`;
    return createPort(kv, (serverId, hash) => `catalog/${serverId}/${hash}/${part}`);
  },
});

const createPort = (
  kv: KVNamespace,
  keyOf: (serverId: string, hash: string) => string,
): IndexPartPort => ({
  find: async (serverId, hash) => (await kv.get(keyOf(serverId, hash), 'arrayBuffer')) ?? undefined,
  has: async (serverId, hash) =>
    (await kv.list({ prefix: keyOf(serverId, hash), limit: 1 })).keys.length > 0,
  put: (serverId, hash, bytes) => kv.put(keyOf(serverId, hash), bytes),
});
