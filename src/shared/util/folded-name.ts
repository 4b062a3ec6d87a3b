/**
 * Names of JSON members as a lenient parser reads them. Some parsers match names without case (Go's `encoding/json`, .NET), some
 * without `_` and `-` (Go's v2, Python's aliases), some stop at NUL or drop what cannot be seen. Two names that fold to one may be one
 * member for such a parser. Pure; linear in the name.
 */

/** Longest rest that is folded, in UTF-16 units; no known name is near it. */
const MAX_REST_CHARS = 128;
const ASCII_NAME = /^[\x20-\x7e]*$/;
const ASCII_IGNORED = /[ _-]+/g;
/** What no name is made of: marks, blanks, controls, what shows nothing. */
const IGNORED = /[\p{M}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}_-]+/gu;

/**
 * A name without case, marks, blanks, separators and compatibility forms.
 * @returns undefined where it is too long to fold to a known name
 */
export function foldName(name: string): string | undefined {
  if (ASCII_NAME.test(name)) return name.replaceAll(ASCII_IGNORED, '').toLowerCase();
  // Marks go first: to put a long run of them in order would cost its square.
  const rest = name.replaceAll(IGNORED, '');
  if (rest.length > MAX_REST_CHARS) return undefined;
  const plain = rest.normalize('NFKD').replaceAll(IGNORED, '');
  // Upper case first, since some letters have a case of others: U+0131 is a small letter of I.
  return plain.toUpperCase().toLowerCase().normalize('NFKD').replaceAll(IGNORED, '');
}

/** The names that something is decided on, to be told from those that fold to one of them. */
export class DecidedNames {
  readonly #names: ReadonlySet<string>;
  readonly #folded: ReadonlyMap<string, string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    this.#folded = new Map(names.map(name => [foldName(name) ?? name, name]));
  }

  /** The decided name that a name is another spelling of; undefined for the decided names themselves. */
  otherSpellingOf(name: string): string | undefined {
    if (this.#names.has(name)) return undefined;
    const folded = foldName(name);
    return folded === undefined ? undefined : this.#folded.get(folded);
  }
}
