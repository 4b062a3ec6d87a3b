/**
 * Which names deceive the eye: those that look the same but for case, separators and a version at the end, and differ in more than
 * that, since then characters stand for others. Another style of the same words (`search_records`, `searchRecords`, `SEARCH-RECORDS`)
 * does not deceive: whoever reads it sees it. Names of one skeleton only are compared. Pure.
 */
import { lookOf } from './skeleton.ts';

/** A version of another tool; what separates it is told by its style too. */
const VERSION = /[._\-\s]v\d{1,3}$/i;
const SEPARATORS = /[\t\n\r -/:-@[-`{-~]/g;

/** The words of a name, letter by letter as they are written, without what is its style. */
function wordsOf(name: string): string {
  const words = name.replace(VERSION, '').toLowerCase().replaceAll(SEPARATORS, '');
  return words === '' ? name : words;
}

/** A 1 can be taken for an l and for an i, which are not taken for each other. */
const looksOf = (name: string): Set<string> => new Set([lookOf(name, 'l'), lookOf(name, 'i')]);

/** Names, and what each stands for, to find those that another name could be taken for. */
export class LookAlikes<T> {
  /** By look, then by words: of each the first. */
  readonly #names = new Map<string, Map<string, T>>();

  add(name: string, value: T): void {
    const words = wordsOf(name);
    for (const discover of looksOf(name)) {
      const alike = this.#names.get(discover) ?? new Map<string, T>();
      if (!alike.has(words)) alike.set(words, value);
      this.#names.set(discover, alike);
    }
  }

  /** What an eye could take the name for, though it has other letters. */
  find(name: string): T | undefined {
    const words = wordsOf(name);
    for (const discover of looksOf(name)) {
      for (const [others, value] of this.#names.get(discover) ?? []) {
        if (others !== words) return value;
      }
    }
    return undefined;
  }
}
