/**
 * Finds the words of a query that match nothing: no tool that takes part contains the word or a near one, in its own text or its server's.
 * Only tools that take part count, so that a hidden tool makes no word known. Pure.
 */
import { layOut } from './index/held-layouts.ts';
import type { Searched } from './index/part.ts';
import { isTermHeld } from './rank/lexical.ts';
import { TUNING } from './rank/tuning.ts';
import type { Embedding } from './text/embedding.ts';
import { toQueryWords } from './text/query.ts';
import { STOP_WORDS } from './text/stop-words.ts';
import { hashText, toStem } from './text/terms.ts';

/** How much of a query is read, and how many words are reported at most. */
const MAX_QUERY_CHARS = 500;
const MAX_WORDS = 64;
const MAX_UNMATCHED = 8;

/** Returns the unmatched words as written, in lower case, in their order. */
export function toUnmatched(
  query: string,
  searched: readonly Searched[],
  embedding: Embedding,
): string[] {
  const { words, near } = toQueryWords(query.slice(0, MAX_QUERY_CHARS), embedding);
  const all = layOut(searched, embedding);
  const unmatched = new Set<string>();
  for (const { whole, parts } of words.slice(0, MAX_WORDS)) {
    if (unmatched.has(whole) || unmatched.size === MAX_UNMATCHED) continue;
    const meant = [whole, ...parts];
    const termsOf = (word: string) => [
      hashText(toStem(word)),
      ...near.of(word).map(({ term }) => term),
    ];
    if (meant.some(word => STOP_WORDS.has(word))) continue;
    if (!meant.flatMap(termsOf).some(term => isTermHeld(term, all, TUNING))) unmatched.add(whole);
  }
  return [...unmatched];
}
