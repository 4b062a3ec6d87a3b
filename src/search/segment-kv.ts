/**
 * Segments of the search index in KV, beside the catalog each is of, under `catalog/{server}/{hash}/index-{version}`: written once,
 * never changed. They go with the catalog.
 */
import { SEGMENT_VERSION } from './segment.ts';

/** Key of the segment of a catalog, in the form of this version. */
export const segmentKey = (serverId: string, hash: string): string =>
  `catalog/${serverId}/${hash}/index-${SEGMENT_VERSION}`;

/** Where segments are. */
export interface SegmentPort {
  find(serverId: string, hash: string): Promise<ArrayBuffer | undefined>;
  has(serverId: string, hash: string): Promise<boolean>;
  put(serverId: string, hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

/** The segments of one namespace. */
export const createSegmentPort = (kv: KVNamespace): SegmentPort => ({
  find: async (serverId, hash) =>
    (await kv.get(segmentKey(serverId, hash), 'arrayBuffer')) ?? undefined,
  has: async (serverId, hash) =>
    (await kv.list({ prefix: segmentKey(serverId, hash), limit: 1 })).keys.length > 0,
  put: (serverId, hash, bytes) => kv.put(segmentKey(serverId, hash), bytes),
});
