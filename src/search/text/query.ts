/** Reads a query: its terms, each with words of similar meaning, and its vector. Bounded for any query. Pure. */
import { toCorrections } from './corrections.ts';
import type { Embedding, Neighbour } from './embedding.ts';
import { STOP_WORDS } from './stop-words.ts';
import { hashText, toStem } from './terms.ts';
import { toNearWords, type NearWords } from './near/near-words.ts';
import { toWords, type Word } from './words.ts';

export interface QueryTerm {
  term: number;
  /** Terms that count instead where a tool lacks this one. */
  neighbours: readonly Neighbour[];
  /** How rare it is in English, 0 to 1: an everyday word says little of a tool, even if few tools have it. */
  rarity: number;
}

export interface Query {
  terms: readonly QueryTerm[];
  vector: Float32Array;
  /** Whether the query contains words of another language. */
  isForeign: boolean;
}

/** How much of a query is read, in UTF-16 code units, and how many distinct terms of it count. */
export const MAX_QUERY_CHARS = 2_000;
const MAX_QUERY_TERMS = 64;
/** Similarity of the likeliest correction of a misspelt word; the next gets half. */
const CORRECTED = 1;
/** After so many corrections, no more unknown words are corrected. */
const MAX_CORRECTED = 8;

/** A query's words, and the near words of each. */
export interface QueryWords {
  words: Word[];
  near: NearWords;
}

/** @param text the query, cut to the part that is read */
export function toQueryWords(text: string, embedding: Embedding): QueryWords {
  const words = toWords(text, text.length);
  return { words, near: toNearWords(text, words, embedding) };
}

/**
 * Reads a query.
 * @param isHeld whether a tool that takes part has a term; such a word is not corrected
 */
export function toQuery(
  text: string,
  embedding: Embedding,
  isHeld: (term: number) => boolean = () => true,
): Query {
  const { words, near } = toQueryWords(text.slice(0, MAX_QUERY_CHARS), embedding);
  const terms = new Map<number, QueryTerm>();
  const add = (word: string): void => {
    const term = hashText(toStem(word));
    if (STOP_WORDS.has(word) || terms.has(term) || terms.size === MAX_QUERY_TERMS) return;
    const corrections = isHeld(term) ? [] : correct(word);
    const neighbours = [...corrections, ...near.of(word)];
    terms.set(term, { term, neighbours, rarity: embedding.rarityOf(word) });
  };
  const slips: string[] = [];
  const correct = (word: string): Neighbour[] => {
    if (near.isForeign || slips.length >= MAX_CORRECTED) return [];
    const corrections = toCorrections(word, embedding);
    slips.push(...corrections);
    return corrections.map((one, i) => ({
      term: hashText(toStem(one)),
      similarity: CORRECTED / (i + 1),
    }));
  };
  for (const { whole, parts } of words) {
    for (const part of parts) add(part);
    add(whole);
  }
  const vector = embedding.embed([near.text, ...slips].join(' '));
  return { terms: [...terms.values()], vector, isForeign: near.isForeign };
}
