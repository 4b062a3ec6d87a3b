/**
 * Which tools that take part have a term, and how much it is in their fields and their server's: each field's frequencies, held against its length, added up with weights (BM25F).
 * No query changes it, so it is remembered for as long as the layout of the search is. Bounded in bytes. Pure but for that.
 */
import { Lru } from '../../shared/util/lru.ts';
import type { Part, Parts } from '../index/part.ts';
import { FIELD_COUNT } from '../index/segment-layout.ts';
import type { FieldTuning, Tuning } from './tuning.ts';

export interface Matches {
  /** Of tools that take part and have the term, themselves or by their server. */
  places: Int32Array;
  /** How much of it each has. */
  frequencies: Float64Array;
}

/** Bytes of matches that are remembered for one layout, and what one takes beside its numbers. */
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

/** The tools that have a term. */
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
  // Postings are in the order of the tools.
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

/** Adds how much of the term of a posting is in a tool's own fields. */
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
