/** The interface of the result cache, shared by the Worker and the object that stores the results. */

/** A cached result. */
export interface Entry {
  /** Sealed by the Worker that received the result: the object cannot read it. */
  sealed: string;
  /** When its call was made, in milliseconds since the epoch. */
  madeAt: number;
}

/** The cache's instruction to a caller. */
export type Taken =
  /** Use this result. */
  | { kind: 'entry'; entry: Entry }
  /** Make the call and store its result: others wait for it. `mustClaim`: renew the lease at once. */
  | { kind: 'lead'; mustClaim: boolean }
  /** Make the call; nobody waits for it. */
  | { kind: 'alone' };

/** One shard of the cache. Keys are hashes; the caller draws a new `id` for each call. */
export interface CacheShard {
  /**
   * @param madeAfter results of calls before this time are too old, in milliseconds since the epoch
   * @param waitMs how long the caller waits at most
   */
  take(key: string, id: string, madeAfter: number, waitMs: number): Promise<Taken>;
  /** Stores a result, valid until `expiresAt`, and hands it to the callers that wait for this one. */
  put(key: string, id: string, entry: Entry, expiresAt: number): Promise<void>;
  /** The result is for this caller alone: callers that wait make their own calls. */
  release(key: string, id: string): Promise<void>;
  /** The caller went away, or its call failed. */
  leave(key: string, id: string): Promise<void>;
  /** Renews the lease of the leading caller. */
  renew(key: string, id: string): Promise<void>;
}
