/**
 * BM25F over the fields of tools and of their servers: each field's frequencies, held against its length, are added up with weights before they
 * saturate. How rare a word is, is counted over the tools that take part. Source: Robertson, Zaragoza, "The Probabilistic Relevance Framework" (2009).
 */
import type { Part, Parts } from './part.ts';
import { FIELD_COUNT } from './segment-layout.ts';
import type { FieldTuning, Tuning } from './tuning.ts';

/** Where a term is in a segment's postings. */
interface Span {
  from: number;
  to: number;
}

/**
 * Scores of all places; 0 where nothing matches or the tool takes no part.
 * @param terms hash and weight of each term of the query
 */
export function toLexicalScores(
  terms: ReadonlyMap<number, number>,
  all: Parts,
  tuning: Tuning,
): Float32Array {
  const scores = new Float32Array(all.places);
  for (const [hash, weight] of terms) {
    const spans = all.parts.map(part => findSpan(part, hash));
    const frequency = all.parts.reduce(
      (sum, part, i) => sum + countMatches(part, hash, spans[i]),
      0,
    );
    if (frequency === 0) continue;
    const rarity = Math.log(1 + (all.count - frequency + 0.5) / (frequency + 0.5));
    all.parts.forEach((part, i) => {
      addScores(part, all, { hash, factor: weight * rarity, span: spans[i] }, tuning, scores);
    });
  }
  return scores;
}

function findSpan({ segment }: Part, hash: number): Span | undefined {
  const { termHashes, postingStarts } = segment;
  let low = 0;
  let high = termHashes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((termHashes[middle] ?? 0) < hash) low = middle + 1;
    else high = middle;
  }
  if (termHashes[low] !== hash) return undefined;
  return { from: postingStarts[low] ?? 0, to: postingStarts[low + 1] ?? 0 };
}

/** How many tools that take part have the term, in a field of their own or of their server. */
function countMatches(part: Part, hash: number, span: Span | undefined): number {
  if (part.serverName.has(hash) || part.serverDescription.has(hash)) return part.count;
  if (!span) return 0;
  if (!part.shown) return span.to - span.from;
  let count = 0;
  for (let i = span.from; i < span.to; i += 1) {
    if (part.shown[part.segment.postingTools[i] ?? 0]) count += 1;
  }
  return count;
}

function addScores(
  part: Part,
  all: Parts,
  term: { hash: number; factor: number; span: Span | undefined },
  tuning: Tuning,
  scores: Float32Array,
): void {
  const { segment, shown, offset } = part;
  const { factor, span } = term;
  const k1 = tuning.saturation;
  const server =
    (part.serverName.get(term.hash) ?? 0) *
      toFactor(tuning.serverName, part.serverNameLength, all.meanServerName) +
    (part.serverDescription.get(term.hash) ?? 0) *
      toFactor(tuning.serverDescription, part.serverDescriptionLength, all.meanServerDescription);
  const base = (factor * server) / (k1 + server);
  if (base > 0) {
    for (let tool = 0; tool < segment.size; tool += 1) {
      if (!shown || shown[tool]) scores[offset + tool] = (scores[offset + tool] ?? 0) + base;
    }
  }
  for (let i = span?.from ?? 0; i < (span?.to ?? 0); i += 1) {
    const tool = segment.postingTools[i] ?? 0;
    if (shown && !shown[tool]) continue;
    let sum = server;
    for (let field = 0; field < FIELD_COUNT; field += 1) {
      const frequency = segment.frequencies[FIELD_COUNT * i + field] ?? 0;
      const fieldTuning = tuning.fields[field];
      if (frequency === 0 || !fieldTuning) continue;
      const length = segment.lengths[FIELD_COUNT * tool + field] ?? 0;
      sum += frequency * toFactor(fieldTuning, length, all.meanLengths[field] ?? 0);
    }
    scores[offset + tool] = (scores[offset + tool] ?? 0) + (factor * sum) / (k1 + sum) - base;
  }
}

/** What one occurrence counts in a field of this length. */
function toFactor({ weight, lengthPenalty }: FieldTuning, length: number, mean: number): number {
  return mean === 0 ? weight : weight / (1 - lengthPenalty + (lengthPenalty * length) / mean);
}
