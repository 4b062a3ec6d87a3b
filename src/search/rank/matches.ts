/**
 * Finds which tools that take part have a term, and with what weight in their fields and their server's: each field's frequency, normalised
 * by its length, summed with weights (BM25F). The result does not depend on the query, so it is cached for as long as the layout of the
 * search lives. Bounded in bytes. Pure except for this cache.
 */
import { Lru } from '../../shared/util/lru.ts';
import type { Part, Parts } from '../index/part.ts';
import { FIELD_COUNT } from '../index/segment-layout.ts';
import type { FieldTuning, Tuning } from './tuning.ts';

export interface Matches {
  /** Places of the tools that take part and have the term, in their own text or their server's. */
  places: Int32Array;
  /** The weighted frequency of the term in each. */
  frequencies: Float64Array;
}

/** Bytes of matches cached per layout, and the overhead of one entry. */
const MAX_BYTES = 2_097_152;
const OVERHEAD = 200;

interface Known {
  tuning: Tuning;
  byTerm: Lru<number, Matches>;
}

const NONE: Matches = { places: new Int32Array(), frequencies: new Float64Array() };

const known = new WeakMap<Parts, Known>();

const weigh = ({ places, frequencies }: Matches): number =>
  places.byteLength + frequencies.byteLength + OVERHEAD;

/** Returns the tools that have a term, from the cache where possible. */
export function toMatches(term: number, all: Parts, tuning: Tuning): Matches {
  let held = known.get(all);
  if (held?.tuning !== tuning) {
    held = { tuning, byTerm: new Lru<number, Matches>(MAX_BYTES, weigh) };
    known.set(all, held);
  }
  const before = held.byTerm.get(term);
  if (before) return before;
  const found = findMatches(term, all, tuning);
  held.byTerm.set(term, found);
  return found;
}

function findMatches(term: number, all: Parts, tuning: Tuning): Matches {
  const having = all.having(term);
  if (having.length === 0) return NONE;
  const places: number[] = [];
  const frequencies: number[] = [];
  for (const at of having) {
    const part = all.parts[at];
    if (part) addMatches(part, term, all, tuning, places, frequencies);
  }
  return { places: Int32Array.from(places), frequencies: Float64Array.from(frequencies) };
}

function addMatches(
  part: Part,
  term: number,
  all: Parts,
  tuning: Tuning,
  places: number[],
  frequencies: number[],
): void {
  const { segment, shown, offset, server } = part;
  const [name, description] = [server.names.get(term), server.descriptions.get(term)];
  const isShared = name !== undefined || description !== undefined;
  const shared =
    toShare(name, tuning.serverName, server.nameLength, all.meanServerName) +
    toShare(
      description,
      tuning.serverDescription,
      server.descriptionLength,
      all.meanServerDescription,
    );
  const found = findTerm(part, term);
  let i = found < 0 ? 0 : (segment.postingStarts[found] ?? 0);
  const to = found < 0 ? 0 : (segment.postingStarts[found + 1] ?? 0);
  // Postings are ordered by tool.
  let tool = isShared ? 0 : (segment.postingTools[i] ?? 0);
  while (isShared ? tool < segment.size : i < to) {
    const hasOwn = i < to && segment.postingTools[i] === tool;
    if (!shown || shown[tool]) {
      places.push(offset + tool);
      frequencies.push(hasOwn ? addOwn(shared, part, i, tool, all, tuning) : shared);
    }
    if (hasOwn) i += 1;
    tool = isShared ? tool + 1 : (segment.postingTools[i] ?? 0);
  }
}

/** Adds the frequencies of a posting's term in the tool's own fields to `shared`. */
function addOwn(
  shared: number,
  { segment }: Part,
  posting: number,
  tool: number,
  all: Parts,
  { fields }: Tuning,
): number {
  let sum = shared;
  for (let field = 0; field < FIELD_COUNT; field += 1) {
    const frequency = segment.frequencies[FIELD_COUNT * posting + field] ?? 0;
    const fieldTuning = fields[field];
    if (frequency === 0 || !fieldTuning) continue;
    const length = segment.lengths[FIELD_COUNT * tool + field] ?? 0;
    sum += toShare(frequency, fieldTuning, length, all.meanLengths[field] ?? 0);
  }
  return sum;
}

/** Returns the index of a term in a segment, or -1. */
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

/** Returns the weight of so many occurrences in a field of this length. */
function toShare(
  frequency: number | undefined,
  { weight, lengthPenalty }: FieldTuning,
  length: number,
  mean: number,
): number {
  if (frequency === undefined || mean === 0) return 0;
  return (frequency * weight) / (1 - lengthPenalty + (lengthPenalty * length) / mean);
}
