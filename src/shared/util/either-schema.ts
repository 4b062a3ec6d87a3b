/**
 * Code that may run on the database of the last release, where a migration has not been applied yet
 * (docs/decisions/0043-one-version-apart.md): there it does what that release did.
 */

/** Which release's tables the database has: this one's, or the last one's. */
export type SchemaAge = 'this' | 'last';

const LACKING = /no such (?:column|table)/;

/**
 * Runs work on this schema; if the database lacks a table or column, runs it on the last one. Safe, since a failed
 * batch has changed nothing.
 */
export async function onEitherSchema<T>(work: (age: SchemaAge) => Promise<T>): Promise<T> {
  try {
    return await work('this');
  } catch (error) {
    if (!LACKING.test(String(error))) throw error;
    return work('last');
  }
}
