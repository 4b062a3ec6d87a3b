/** What the result cache is asked, and what it answers: shared by the Worker and the object that keeps the results. */

/** A result that is kept. */
export interface Entry {
  /** Sealed by the Worker that got it: the object cannot read it. */
  sealed: string;
  /** When its call was made, in milliseconds since the epoch. */
  madeAt: number;
}

/** What a caller is told to do. */
export type Taken =
  /** Take this. */
  | { kind: 'entry'; entry: Entry }
  /** Make the call, and bring its result: others wait for it. `mustClaim`: say at once that you are there. */
  | { kind: 'lead'; mustClaim: boolean }
  /** Make the call; nobody waits for it. */
  | { kind: 'alone' };

/** One shard of the cache. Keys are hashes; an `id` is the caller's own, made anew for each call. */
export interface CacheShard {
  /**
   * @param madeAfter results of calls before this time are too old, in milliseconds since the epoch
   * @param waitMs how long the caller waits at most
   */
  take(key: string, id: string, madeAfter: number, waitMs: number): Promise<Taken>;
  /** A result, good until `expiresAt`; those who wait for this caller get it. */
  put(key: string, id: string, entry: Entry, expiresAt: number): Promise<void>;
  /** The result is for nobody else: those who wait make their own calls. */
  release(key: string, id: string): Promise<void>;
  /** The caller went away or failed. */
  leave(key: string, id: string): Promise<void>;
  /** The caller that leads still does. */
  renew(key: string, id: string): Promise<void>;
}
