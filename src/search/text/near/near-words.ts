/**
 * Expands the words of a query: English words of similar meaning, from the embedding table and from everyday use, and English translations
 * of common words of other languages. They count less than the word itself, and no word is removed. The vector of a query in another
 * language is made from the English. Pure; bounded by the words of the query.
 */
import type { Embedding, Neighbour } from '../embedding.ts';
import { STOP_WORDS } from '../stop-words.ts';
import { hashText, toStem } from '../terms.ts';
import { toPlainText, type Word } from '../words.ts';
import { readEverydayWords } from './english.ts';
import { FUNCTION_WORDS } from './languages/function-words.ts';
import { translateRun, translateWord } from './translations.ts';

/** Similarity of an everyday near word, and of a translation. */
const EVERYDAY = 0.5;
const TRANSLATED = 0.95;
const MAX_NEIGHBOURS = 24;
/** How many words are looked up in the dictionary. */
const MAX_TRANSLATED = 64;
const LIKE_CHARS = 4;
const ACCENTED = /[\u00c0-\u024f]/;
const UNSPACED_RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;
const IS_UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u;

export interface NearWords {
  /** Returns the near words of a word of the query, nearest first. */
  of(word: string): Neighbour[];
  /** Whether the query contains words of another language. */
  isForeign: boolean;
  /** The text that the query's vector is made from. */
  text: string;
}

/** @param text the query, cut to the part that is read @param words its words, by `toWords` */
export function toNearWords(text: string, words: readonly Word[], embedding: Embedding): NearWords {
  const english = toEnglish(text, words, embedding);
  const pairs = toPairs(words);
  const of = (word: string): Neighbour[] => {
    const near = new Map<number, number>();
    const add = (term: number, similarity: number): void => {
      near.set(term, Math.max(near.get(term) ?? 0, similarity));
    };
    const addEveryday = (others: readonly string[] = [], factor = 1): void => {
      for (const other of others) add(termOf(other), EVERYDAY * factor);
    };
    const addAll = (from: string, factor: number): void => {
      for (const { term, similarity } of embedding.neighboursOf(from))
        add(term, similarity * factor);
      addEveryday(readEverydayWords().of.get(from), factor);
    };
    addAll(word, 1);
    addEveryday(pairs.get(word));
    for (const translated of english.get(word) ?? []) {
      add(termOf(translated), TRANSLATED);
      addAll(translated, TRANSLATED);
    }
    return [...near]
      .map(([term, similarity]) => ({ term, similarity }))
      .toSorted((a, b) => b.similarity - a.similarity)
      .slice(0, MAX_NEIGHBOURS);
  };
  return { of, isForeign: english.size > 0, text: toVectorText(text, words, english) };
}

const termOf = (word: string): number => hashText(toStem(word));

/** Finds near words for pairs of consecutive words, keyed by the first of the pair, or by the second where the first is a stop word. */
function toPairs(words: readonly Word[]): ReadonlyMap<string, readonly string[]> {
  const { ofPair } = readEverydayWords();
  const found = new Map<string, readonly string[]>();
  words.slice(1).forEach(({ whole: second }, i) => {
    const first = words[i]?.whole ?? '';
    const others = ofPair.get(`${first} ${second}`);
    if (others) found.set(STOP_WORDS.has(first) ? second : first, others);
  });
  return found;
}

/** Returns English translations of the query's foreign words, by word. */
function toEnglish(
  text: string,
  words: readonly Word[],
  embedding: Embedding,
): ReadonlyMap<string, readonly string[]> {
  const wholes = new Set(words.map(({ whole }) => whole));
  const english = new Map<string, readonly string[]>();
  let surely = 0;
  const translated = [...wholes]
    .filter(word => !STOP_WORDS.has(word) && !FUNCTION_WORDS.has(word))
    .slice(0, MAX_TRANSLATED);
  for (const word of translated) {
    const found = translateWord(word);
    if (found.length === 0) continue;
    english.set(word, found);
    if (embedding.neighboursOf(word).length === 0 && !isLikeAny(word, found)) surely += 1;
  }
  // Many words are spelt alike in two languages; the words around them show which language it is.
  const small = [...wholes].filter(
    word => FUNCTION_WORDS.has(word) && !STOP_WORDS.has(word),
  ).length;
  const signs = small + (ACCENTED.test(text) ? 1 : 0);
  const isForeign = signs > 1 || (surely > 0 && (signs > 0 || 2 * surely >= translated.length));
  if (!isForeign) english.clear();
  for (const [run] of toPlainText(text, text.length).matchAll(UNSPACED_RUN)) {
    for (const { english: found, at } of translateRun(run)) {
      const key = [run.slice(at, at + 2), run.slice(at, at + 1), run.slice(at - 1, at + 1)].find(
        part => wholes.has(part),
      );
      if (key === undefined) continue;
      english.set(key, [...new Set([...(english.get(key) ?? []), ...found])]);
    }
  }
  return english;
}

/** Tells whether a word begins like one of its translations: it may then be English itself. */
const isLikeAny = (word: string, english: readonly string[]): boolean =>
  english.some(other => other.slice(0, LIKE_CHARS) === word.slice(0, LIKE_CHARS));

/** Replaces words by their translations and drops foreign function words; returns the query itself where nothing has a translation. */
function toVectorText(
  text: string,
  words: readonly Word[],
  english: ReadonlyMap<string, readonly string[]>,
): string {
  if (english.size === 0) return text;
  return words
    .flatMap(({ whole }) => {
      const found = english.get(whole);
      if (found) return found;
      return IS_UNSPACED.test(whole) || FUNCTION_WORDS.has(whole) ? [] : [whole];
    })
    .join(' ');
}
