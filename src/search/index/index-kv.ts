/**
 * Parts of the search index in KV, stored under the key of their catalog: written once, never changed, and deleted with the catalog. They
 * are base64, because KV returns only text when several values are read at once.
 */
import { shortHash } from '../../shared/crypto/short-hash.ts';
import { findTexts } from '../../shared/util/texts-kv.ts';
import type { IndexPartPort, IndexParts } from './index-parts.ts';
import { MODEL_VECTORS_VERSION } from './model-vectors.ts';
import { SEGMENT_VERSION } from './segment.ts';

/** The index parts of one KV namespace. */
export const createIndexParts = (kv: KVNamespace): IndexParts => ({
  segments: createPort(kv, `index-${SEGMENT_VERSION}`),
  modelVectorsOf: model => createPort(kv, `vectors-${MODEL_VECTORS_VERSION}-${shortHash(model)}`),
});

function createPort(kv: KVNamespace, part: string): IndexPartPort {
  const keyOf = (serverId: string, hash: string) => `catalog/${serverId}/${hash}/${part}`;
  return {
    findAll: async catalogs => {
      const keys = catalogs.map(({ serverId, hash }) => keyOf(serverId, hash));
      const texts = await findTexts(kv, keys);
      return texts.map(text => (text ? Uint8Array.fromBase64(text).buffer : undefined));
    },
    has: async (serverId, hash) =>
      (await kv.list({ prefix: keyOf(serverId, hash), limit: 1 })).keys.length > 0,
    put: (serverId, hash, bytes) => kv.put(keyOf(serverId, hash), bytes.toBase64()),
  };
}
