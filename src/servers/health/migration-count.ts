/** How many migrations the code knows: a database that has fewer is not ready. */

/** Files in `migrations/`; a gate compares the two. */
export const MIGRATION_COUNT = 28;
