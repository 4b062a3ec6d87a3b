/** How the cache of results is spread over objects: by the first digit of a key, which is a hash in hex digits. */

/** How many objects there are. */
export const SHARDS = 16;

/** The name of a key's object. */
export const shardOf = (key: string): string => `results-${key.slice(0, 1)}`;
