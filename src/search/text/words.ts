/**
 * Splits text into words, in the same way for definitions and queries: identifiers are split where a programmer would read a new word,
 * compatibility forms and accents are unified, invisible characters are removed, scripts without spaces become pairs of characters.
 * Bounded: both a text and a word are read up to a number of characters. Pure; never throws.
 */

/** One word as written without a break, in lower case, and the words it is made of: `getHTTPServer` has three. */
export interface Word {
  whole: string;
  parts: readonly string[];
}

/** Longest word kept whole; a longer one is cut. */
export const MAX_WORD_CHARS = 40;
const NON_ASCII = /[^\0-\x7f]/;
/** Characters that show nothing; a word is the same with and without them. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}]+/gu;
const ACCENT = /[\u0300-\u036f]+/g;
/** Runs of letters, digits and marks; scripts written without spaces form runs of their own. */
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+|[[\p{L}\p{N}\p{M}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]]+/gv;
const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** The same for ASCII text, which most text is: takes two thirds of the time in a new isolate. */
const ASCII_RUN = /[A-Za-z0-9]+/g;
const HAS_CAMEL = /[^\p{Lu}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
/** `IDs` is one word. */
const PLURAL_ACRONYM = /^\p{Lu}{2,}s$/u;
const CAMEL_PART = /\p{Lu}+(?!\p{Ll})[^\p{Lu}]*|\p{Lu}?[^\p{Lu}]+|\p{Lu}/gu;

/**
 * Returns the words of a text in order, including stop words.
 * @param maxChars how much of the text is read, in UTF-16 code units
 */
export function toWords(text: string, maxChars: number): Word[] {
  const plain = toPlainText(text, maxChars);
  if (!NON_ASCII.test(plain)) return (plain.match(ASCII_RUN) ?? []).map(toWord);
  const words: Word[] = [];
  for (const [run] of plain.matchAll(RUN)) {
    if (UNSPACED.test(run)) addPairs(run, words);
    else words.push(toWord(run));
  }
  return words;
}

function toWord(run: string): Word {
  const read = run.slice(0, MAX_WORD_CHARS);
  const whole = read.toLowerCase();
  const isOne = whole === read || !HAS_CAMEL.test(read) || PLURAL_ACRONYM.test(read);
  if (isOne) return { whole, parts: [whole] };
  return { whole, parts: (read.match(CAMEL_PART) ?? [read]).map(part => part.toLowerCase()) };
}

/** Unifies compatibility forms and accents, and removes invisible characters. */
export function toPlainText(text: string, maxChars: number): string {
  const read = text.length > maxChars ? text.slice(0, maxChars) : text;
  if (!NON_ASCII.test(read)) return read;
  // One character can become eighteen.
  const wide = read.normalize('NFKD').slice(0, 2 * maxChars);
  return wide.replaceAll(ACCENT, '').replaceAll(INVISIBLE, '').normalize('NFC');
}

function addPairs(run: string, words: Word[]): void {
  const letters = [...run];
  const pairs =
    letters.length === 1 ? letters : letters.slice(1).map((b, i) => `${letters[i]}${b}`);
  for (const pair of pairs) words.push({ whole: pair, parts: [pair] });
}
