/** Bounds of a search, the same wherever they are used. */

/** Longest query, in UTF-16 units. */
export const MAX_QUERY_CHARS = 1_000;
/** Most tools that are found at once, and how many are where nothing is said. */
export const MAX_FOUND = 50;
export const USUAL_FOUND = 10;
/** Most servers that a search may be narrowed to. */
export const MAX_SERVERS = 100;
export { MAX_NAME_CHARS } from '../../shared/util/name-limits.ts';
