/**
 * BM25F over the fields of tools and of their servers: each field's frequencies, held against its length, are added up with weights before they
 * saturate. A tool without a term of the query counts for the nearest of its neighbours that it has, for less. How rare a word is, is counted over the tools
 * that take part. Source of BM25F: Robertson, Zaragoza, "The Probabilistic Relevance Framework" (2009).
 */
import type { Part, Parts } from '../index/part.ts';
import type { QueryTerm } from '../text/query.ts';
import { FIELD_COUNT } from '../index/segment-layout.ts';
import type { FieldTuning, Tuning } from './tuning.ts';

/** Scores of all places; 0 where nothing matches or the tool takes no part. */
export function toLexicalScores(
  terms: readonly QueryTerm[],
  all: Parts,
  tuning: Tuning,
): Float32Array {
  const scores = new Float32Array(all.places);
  const best = new Float32Array(all.places);
  for (const { term, neighbours } of terms) {
    const having = partsWith(all, term);
    const own = toRarity(countMatches(having, term), all.count);
    raise(best, all, having, { term, factor: own }, tuning);
    for (const { term: near, similarity } of neighbours) {
      const nearby = partsWith(all, near);
      const count = countMatches(nearby, near);
      const factor =
        tuning.neighbourWeight * similarity * Math.min(own, toRarity(count, all.count));
      if (count > 0 && factor > 0) raise(best, all, nearby, { term: near, factor }, tuning);
    }
    for (let place = 0; place < best.length; place += 1) {
      scores[place] = (scores[place] ?? 0) + (best[place] ?? 0);
    }
    best.fill(0);
  }
  return scores;
}

/** Whether a tool that takes part has the term. */
export function isTermHeld(term: number, all: Parts): boolean {
  return countMatches(partsWith(all, term), term) > 0;
}

/** The most that these terms could count among so many tools. */
export function toCeiling(terms: readonly QueryTerm[], count: number): number {
  return terms.length * toRarity(0, count);
}

/** The weight of a word that so many of all tools have. */
function toRarity(matches: number, count: number): number {
  return Math.log(1 + (count - matches + 0.5) / (matches + 0.5));
}

/** The place of a term in a segment, -1 where it has none. */
function findTerm({ segment: { termHashes } }: Part, term: number): number {
  let low = 0;
  let high = termHashes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((termHashes[middle] ?? 0) < term) low = middle + 1;
    else high = middle;
  }
  return termHashes[low] === term ? low : -1;
}

/** The parts that may have a term. */
function partsWith({ parts, having }: Parts, term: number): Part[] {
  return having(term).flatMap(place => parts[place] ?? []);
}

/** How many tools that take part have the term, in a field of their own or of their server. */
function countMatches(parts: readonly Part[], term: number): number {
  let count = 0;
  for (const part of parts) {
    const { segment, shown } = part;
    if (part.server.names.has(term) || part.server.descriptions.has(term)) {
      count += part.count;
      continue;
    }
    const found = findTerm(part, term);
    if (found < 0) continue;
    const to = segment.postingStarts[found + 1] ?? 0;
    for (let i = segment.postingStarts[found] ?? 0; i < to; i += 1) {
      if (!shown || shown[segment.postingTools[i] ?? 0]) count += 1;
    }
  }
  return count;
}

/** Raises each place to what the term counts there, where that is more. */
function raise(
  best: Float32Array,
  all: Parts,
  having: readonly Part[],
  word: { term: number; factor: number },
  tuning: Tuning,
): void {
  for (const part of having) {
    const { segment, shown, offset, server } = part;
    const lift = (place: number, frequency: number): void => {
      const value = (word.factor * frequency) / (tuning.saturation + frequency);
      if (value > (best[place] ?? 0)) best[place] = value;
    };
    const shared =
      toShare(
        server.names.get(word.term),
        tuning.serverName,
        server.nameLength,
        all.meanServerName,
      ) +
      toShare(
        server.descriptions.get(word.term),
        tuning.serverDescription,
        server.descriptionLength,
        all.meanServerDescription,
      );
    if (shared > 0) {
      for (let tool = 0; tool < segment.size; tool += 1) {
        if (!shown || shown[tool]) lift(offset + tool, shared);
      }
    }
    const found = findTerm(part, word.term);
    const to = found < 0 ? 0 : (segment.postingStarts[found + 1] ?? 0);
    for (let i = segment.postingStarts[Math.max(found, 0)] ?? 0; i < to; i += 1) {
      const tool = segment.postingTools[i] ?? 0;
      if (shown && !shown[tool]) continue;
      let sum = shared;
      for (let field = 0; field < FIELD_COUNT; field += 1) {
        const frequency = segment.frequencies[FIELD_COUNT * i + field] ?? 0;
        const fieldTuning = tuning.fields[field];
        if (frequency === 0 || !fieldTuning) continue;
        const length = segment.lengths[FIELD_COUNT * tool + field] ?? 0;
        sum += toShare(frequency, fieldTuning, length, all.meanLengths[field] ?? 0);
      }
      lift(offset + tool, sum);
    }
  }
}

/** What so many occurrences count in a field of this length. */
function toShare(
  frequency: number | undefined,
  { weight, lengthPenalty }: FieldTuning,
  length: number,
  mean: number,
): number {
  if (frequency === undefined || mean === 0) return 0;
  return (frequency * weight) / (1 - lengthPenalty + (lengthPenalty * length) / mean);
}
