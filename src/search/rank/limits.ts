/** Bounds of a search, shared by everything that uses them. */

/** Longest query, in UTF-16 units. */
export const MAX_QUERY_CHARS = 1_000;
/** Most tools that one search returns, and the default. */
export const MAX_FOUND = 50;
export const USUAL_FOUND = 10;
/** Most servers that a search may be restricted to. */
export const MAX_SERVERS = 100;
export { MAX_NAME_CHARS } from '../../shared/util/name-limits.ts';
