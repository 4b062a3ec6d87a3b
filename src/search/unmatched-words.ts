/**
 * Which words of a query match nothing: no tool that takes part has the word, nor one that is near it, in its own text or its server's. Counted
 * over tools that take part alone, so that what is hidden makes no word known. Pure.
 */
import { toParts, type Part, type Parts, type Searched } from './index/part.ts';
import type { Embedding } from './text/embedding.ts';
import { toNearWords } from './text/near/near-words.ts';
import { STOP_WORDS } from './text/stop-words.ts';
import { hashText, toStem } from './text/terms.ts';
import { toWords } from './text/words.ts';

/** How much of a query is looked at, and most words that are told. */
const MAX_QUERY_CHARS = 500;
const MAX_WORDS = 64;
const MAX_TOLD = 8;

/** The words as they were written, in small letters, in their order. */
export function toUnmatched(
  query: string,
  searched: readonly Searched[],
  embedding: Embedding,
): string[] {
  const read = query.slice(0, MAX_QUERY_CHARS);
  const words = toWords(read, MAX_QUERY_CHARS);
  const near = toNearWords(read, words, embedding);
  const all = toParts(searched, embedding);
  const told = new Set<string>();
  for (const { whole, parts } of words.slice(0, MAX_WORDS)) {
    if (told.has(whole) || told.size === MAX_TOLD) continue;
    const meant = [whole, ...parts];
    const termsOf = (word: string) => [
      hashText(toStem(word)),
      ...near.of(word).map(({ term }) => term),
    ];
    if (meant.some(word => STOP_WORDS.has(word))) continue;
    if (!meant.flatMap(termsOf).some(term => isAnywhere(term, all))) told.add(whole);
  }
  return [...told];
}

const isAnywhere = (term: number, { parts, having }: Parts): boolean =>
  having(term).some(place => {
    const part = parts[place];
    return part !== undefined && part.count > 0 && isIn(term, part);
  });

function isIn(term: number, part: Part): boolean {
  const { names, descriptions } = part.server;
  return names.has(term) || descriptions.has(term) || isInTool(term, part);
}

function isInTool(term: number, { segment, shown }: Part): boolean {
  const { termHashes, postingStarts, postingTools } = segment;
  let low = 0;
  let high = termHashes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((termHashes[middle] ?? 0) < term) low = middle + 1;
    else high = middle;
  }
  if (termHashes[low] !== term) return false;
  for (let at = postingStarts[low] ?? 0; at < (postingStarts[low + 1] ?? 0); at += 1) {
    if (!shown || shown[postingTools[at] ?? 0]) return true;
  }
  return false;
}
