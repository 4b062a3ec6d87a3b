/**
 * Parts of the search index in KV, beside the catalog each is of, under `catalog/{server}/{hash}/…`: written once, never changed. They go with
 * the catalog.
 */
import { shortHash } from '../../shared/crypto/short-hash.ts';
import type { IndexPartPort, IndexParts } from './index-parts.ts';
import { MODEL_VECTORS_VERSION } from './model-vectors.ts';
import { SEGMENT_VERSION } from './segment.ts';

/** What one namespace has of the index. */
export const createIndexParts = (kv: KVNamespace): IndexParts => ({
  segments: createPort(kv, `index-${SEGMENT_VERSION}`),
  modelVectorsOf: model => createPort(kv, `vectors-${MODEL_VECTORS_VERSION}-${shortHash(model)}`),
});

function createPort(kv: KVNamespace, part: string): IndexPartPort {
  const keyOf = (serverId: string, hash: string) => `catalog/${serverId}/${hash}/${part}`;
  return {
    find: async (serverId, hash) =>
      (await kv.get(keyOf(serverId, hash), 'arrayBuffer')) ?? undefined,
    has: async (serverId, hash) =>
      (await kv.list({ prefix: keyOf(serverId, hash), limit: 1 })).keys.length > 0,
    put: (serverId, hash, bytes) => kv.put(keyOf(serverId, hash), bytes),
  };
}
