/** Spreads cached results over objects by the first digit of their key, which is a hash in hex digits. */

/** Number of objects. */
export const SHARDS = 16;

/** Returns the name of the object for a key. */
export const shardOf = (key: string): string => `results-${key.slice(0, 1)}`;
