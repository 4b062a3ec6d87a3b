/**
 * BM25F over the fields of tools and of their servers, with saturating term frequencies (`matches.ts`). A tool that lacks a term of the
 * query scores for the nearest neighbour of the term that it has, at less weight. The rarity of a word is computed over the tools that take
 * part. Source of BM25F: Robertson, Zaragoza, "The Probabilistic Relevance Framework" (2009).
 */
import type { Parts } from '../index/part.ts';
import type { QueryTerm } from '../text/query.ts';
import { toMatches, type Matches } from './matches.ts';
import type { Tuning } from './tuning.ts';

/** Returns the scores of all places; 0 where nothing matches or the tool takes no part. */
export function toLexicalScores(
  terms: readonly QueryTerm[],
  all: Parts,
  tuning: Tuning,
): Float32Array {
  const scores = new Float32Array(all.places);
  const best = new Float32Array(all.places);
  for (const { term, neighbours, rarity } of terms) {
    const matches = toMatches(term, all, tuning);
    const english = tuning.everydayWeight + (1 - tuning.everydayWeight) * rarity;
    const own = english * toRarity(matches.places.length, all.count);
    raise(best, matches, own, tuning);
    for (const { term: near, similarity } of neighbours) {
      const nearby = toMatches(near, all, tuning);
      const count = nearby.places.length;
      const factor =
        tuning.neighbourWeight * similarity * Math.min(own, toRarity(count, all.count));
      if (count > 0 && factor > 0) raise(best, nearby, factor, tuning);
    }
    for (let place = 0; place < best.length; place += 1) {
      scores[place] = (scores[place] ?? 0) + (best[place] ?? 0);
    }
    best.fill(0);
  }
  return scores;
}

/** Tells whether any tool that takes part has the term. */
export function isTermHeld(term: number, all: Parts, tuning: Tuning): boolean {
  return toMatches(term, all, tuning).places.length > 0;
}

/** Returns the highest score that these terms could reach among so many tools. */
export function toCeiling(terms: readonly QueryTerm[], count: number): number {
  return terms.length * toRarity(0, count);
}

/** Returns the weight of a word that `matches` of `count` tools have. */
function toRarity(matches: number, count: number): number {
  return Math.log(1 + (count - matches + 0.5) / (matches + 0.5));
}

/** Raises each place to the score that a term gives it, where that is higher. */
function raise(
  best: Float32Array,
  { places, frequencies }: Matches,
  factor: number,
  { saturation }: Tuning,
): void {
  for (let i = 0; i < places.length; i += 1) {
    const place = places[i] ?? 0;
    const frequency = frequencies[i] ?? 0;
    const value = (factor * frequency) / (saturation + frequency);
    if (value > (best[place] ?? 0)) best[place] = value;
  }
}
