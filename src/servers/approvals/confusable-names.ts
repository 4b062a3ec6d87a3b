/**
 * Finds names that deceive the eye: those that look the same apart from case, separators and a trailing version, but have different
 * characters, since then characters imitate others. Another style of the same words (`search_records`, `searchRecords`, `SEARCH-RECORDS`)
 * does not deceive, because a reader sees the difference. Only names with the same skeleton are compared. Pure.
 */
import { appearanceOf } from './skeleton.ts';

/** A trailing version, with any style of separator: it denotes another version of the tool. */
const VERSION = /[._\-\s]v\d{1,3}$/i;
const SEPARATORS = /[\t\n\r -/:-@[-`{-~]/g;

/** The letters of a name as they are written, without its style (case, separators, version). */
function wordsOf(name: string): string {
  const words = name.replace(VERSION, '').toLowerCase().replaceAll(SEPARATORS, '');
  return words === '' ? name : words;
}

/** A 1 can be mistaken for an l and for an i, but an l is not mistaken for an i. */
const appearancesOf = (name: string): Set<string> =>
  new Set([appearanceOf(name, 'l'), appearanceOf(name, 'i')]);

/** A collection of names with values, to find names that another name could be mistaken for. */
export class ConfusableNames<T> {
  /** By appearance, then by words; the first value of each. */
  readonly #names = new Map<string, Map<string, T>>();

  add(name: string, value: T): void {
    const words = wordsOf(name);
    for (const appearance of appearancesOf(name)) {
      const alike = this.#names.get(appearance) ?? new Map<string, T>();
      if (!alike.has(words)) alike.set(words, value);
      this.#names.set(appearance, alike);
    }
  }

  /** Finds a name that looks like this one though it has other letters, and returns its value. */
  find(name: string): T | undefined {
    const words = wordsOf(name);
    for (const appearance of appearancesOf(name)) {
      for (const [others, value] of this.#names.get(appearance) ?? []) {
        if (others !== words) return value;
      }
    }
    return undefined;
  }
}
