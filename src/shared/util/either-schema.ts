/**
 * Code that may run on the database of the last release, where a migration is not applied yet (docs/decisions/0043-one-version-apart.md): it
 * does there what that release did.
 */

/** Whose tables there are: this code's, or the last release's. */
export type SchemaAge = 'this' | 'last';

const LACKING = /no such (?:column|table)/;

/** Work on this schema; where the database lacks a table or column of it, on the last. What fails of a batch has done nothing. */
export async function onEitherSchema<T>(work: (age: SchemaAge) => Promise<T>): Promise<T> {
  try {
    return await work('this');
  } catch (error) {
    if (!LACKING.test(String(error))) throw error;
    return work('last');
  }
}
