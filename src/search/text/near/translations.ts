/**
 * Translates common words of tools from six other languages to English. The data are ours (`languages/`): `english=word,word`, with words
 * in the form that `words.ts` gives them, lower case and without accents. A word that ends in `-` is a stem of longer ones; others match
 * whole. Words in scripts without spaces are found anywhere in a run. Pure; parsed on first use.
 */
import { CHINESE } from './languages/chinese.ts';
import { FRENCH } from './languages/french.ts';
import { GERMAN } from './languages/german.ts';
import { JAPANESE } from './languages/japanese.ts';
import { PORTUGUESE } from './languages/portuguese.ts';
import { SPANISH } from './languages/spanish.ts';

/** A translated word. */
export interface Found {
  english: readonly string[];
  /** Where it begins in the run, and its length. */
  at: number;
  length: number;
}

/** Translations of an alphabetic word; `isStem` where longer words may begin with it. */
interface Entry {
  english: string[];
  isStem: boolean;
}

const SPACED = [GERMAN, FRENCH, SPANISH, PORTUGUESE];
const UNSPACED = [CHINESE, JAPANESE];
/** Longest ending after a stem. */
const MAX_ENDING = 5;
/** Most letters that may join two words of a compound. */
const MAX_JOINT = 2;
const LEAST_PART = 4;
const MAX_PARTS = 3;

interface Dictionary {
  words: ReadonlyMap<string, Entry>;
  signs: ReadonlyMap<string, string[]>;
  longestWord: number;
  longestSign: number;
}

/** Parsed once per isolate. */
const isolate: { held?: Dictionary } = {};

function readDictionary(): Dictionary {
  if (isolate.held) return isolate.held;
  const words = new Map<string, Entry>();
  for (const [english, word] of eachWord(SPACED)) {
    const isStem = word.endsWith('-');
    const key = isStem ? word.slice(0, -1) : word;
    const entry = words.get(key) ?? { english: [], isStem: false };
    entry.isStem ||= isStem;
    if (!entry.english.includes(english)) entry.english.push(english);
    words.set(key, entry);
  }
  const signs = new Map<string, string[]>();
  for (const [english, sign] of eachWord(UNSPACED)) {
    const known = signs.get(sign) ?? [];
    if (!known.includes(english)) known.push(english);
    signs.set(sign, known);
  }
  const longest = (keys: Iterable<string>) => Math.max(...[...keys].map(({ length }) => length));
  isolate.held = {
    words,
    signs,
    longestWord: longest(words.keys()),
    longestSign: longest(signs.keys()),
  };
  return isolate.held;
}

function* eachWord(languages: readonly string[]): Generator<[english: string, word: string]> {
  for (const item of languages.flatMap(text => text.trim().split(/\s+/))) {
    const [english = '', words = ''] = item.split('=');
    for (const word of words.split(',')) yield [english, word];
  }
}

/**
 * Translates an alphabetic word, or the parts of a compound; empty where there is no translation.
 * @param word in lower case, without accents
 */
export function translateWord(word: string): readonly string[] {
  return toParts(word, readDictionary(), MAX_PARTS) ?? [];
}

function toParts(word: string, dictionary: Dictionary, parts: number): string[] | undefined {
  const { words, longestWord } = dictionary;
  const whole = words.get(word);
  if (whole) return whole.english;
  for (let end = Math.min(word.length - 1, longestWord); end >= LEAST_PART; end -= 1) {
    const entry = words.get(word.slice(0, end));
    if (!entry) continue;
    const rest = word.slice(end);
    const more = parts > 1 ? toRest(rest, dictionary, parts - 1) : undefined;
    if (more) return [...entry.english, ...more];
    if (entry.isStem && rest.length <= MAX_ENDING) return entry.english;
  }
  return undefined;
}

function toRest(rest: string, dictionary: Dictionary, parts: number): string[] | undefined {
  for (let joint = 0; joint <= MAX_JOINT; joint += 1) {
    if (rest.length - joint < LEAST_PART) return undefined;
    const found = toParts(rest.slice(joint), dictionary, parts);
    if (found) return found;
  }
  return undefined;
}

/** Finds the known words in a run of a script without spaces, the longest first at each position. */
export function translateRun(run: string): Found[] {
  const { signs, longestSign } = readDictionary();
  const found: Found[] = [];
  for (let at = 0; at < run.length;) {
    let length = Math.min(longestSign, run.length - at);
    while (length > 0 && !signs.has(run.slice(at, at + length))) length -= 1;
    const english = signs.get(run.slice(at, at + length));
    if (english) found.push({ english, at, length });
    at += Math.max(length, 1);
  }
  return found;
}
