/**
 * What stands beside the words of a query: English words that mean about the same, as the table
 * knows them and as people say it every day, and English for common words of other languages. They
 * count less than the word itself, and no word is taken away. The vector of a query in another
 * language is made of the English. Pure; bounded by the words of the query.
 */
import type { Embedding, Neighbour } from '../embedding.ts';
import { STOP_WORDS } from '../stop-words.ts';
import { hashText, toStem } from '../terms.ts';
import { toPlainText, type Word } from '../words.ts';
import { readEverydayWords } from './english.ts';
import { FUNCTION_WORDS } from './languages/function-words.ts';
import { translateRun, translateWord } from './translations.ts';

/** How near an everyday word is, and how near the English of a word is. */
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
  /** Of a word of the query, nearest first. */
  of(word: string): Neighbour[];
  /** Whether words of another language stand in it. */
  isForeign: boolean;
  /** What the query's vector is made of. */
  text: string;
}

/** @param text the query, as far as it is read @param words what `toWords` makes of it */
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

/** What two words that follow each other lead to, by the one that is no stop word, or the first. */
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

/** English for words of other languages, by the word. */
function toEnglish(
  text: string,
  words: readonly Word[],
  embedding: Embedding,
): ReadonlyMap<string, readonly string[]> {
  const wholes = new Set(words.map(({ whole }) => whole));
  const english = new Map<string, readonly string[]>();
  let surely = 0;
  const asked = [...wholes]
    .filter(word => !STOP_WORDS.has(word) && !FUNCTION_WORDS.has(word))
    .slice(0, MAX_TRANSLATED);
  for (const word of asked) {
    const found = translateWord(word);
    if (found.length === 0) continue;
    english.set(word, found);
    if (embedding.neighboursOf(word).length === 0 && !isLikeAny(word, found)) surely += 1;
  }
  // Many words are written alike in two languages: what stands around them tells which it is.
  const small = [...wholes].filter(
    word => FUNCTION_WORDS.has(word) && !STOP_WORDS.has(word),
  ).length;
  const signs = small + (ACCENTED.test(text) ? 1 : 0);
  const isForeign = signs > 1 || (surely > 0 && (signs > 0 || 2 * surely >= asked.length));
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

/** Whether a word begins as one of its English ones does: then it may be English itself. */
const isLikeAny = (word: string, english: readonly string[]): boolean =>
  english.some(other => other.slice(0, LIKE_CHARS) === word.slice(0, LIKE_CHARS));

/**
 * In place of what has English the English, without small words of other languages; the query itself
 * where nothing has.
 */
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
