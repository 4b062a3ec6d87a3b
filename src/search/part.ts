/**
 * The parts that a search goes through, one for each catalog, with which tools of it take part. Everything that is counted for a search is counted here
 * over these tools alone: a tool that is hidden from the caller changes no number. Pure.
 */
import { FIELD_COUNT } from './segment-layout.ts';
import type { Segment } from './segment.ts';
import { hashText, toTerms } from './terms.ts';

export interface Searched {
  segment: Segment;
  server: { name: string; description: string };
  /** Which tools take part, one byte for each, by place; absent: all. */
  shown?: Uint8Array;
}

/** One catalog in a search. */
export interface Part {
  segment: Segment;
  shown: Uint8Array | undefined;
  /** How many tools take part. */
  count: number;
  /** Where its tools begin in the arrays of scores. */
  offset: number;
  /** How often a term is in the server's name and in its description. */
  serverName: ReadonlyMap<number, number>;
  serverDescription: ReadonlyMap<number, number>;
  serverNameLength: number;
  serverDescriptionLength: number;
}

/** What is known of all tools that take part. */
export interface Parts {
  parts: readonly Part[];
  /** Places in the arrays of scores, of tools that take no part too. */
  places: number;
  count: number;
  /** Mean number of terms of each field of a tool; of the server's name and its description. */
  meanLengths: Float64Array;
  meanServerName: number;
  meanServerDescription: number;
}

const MAX_SERVER_CHARS = 2_000;

/** Lays out a search. */
export function toParts(searched: readonly Searched[]): Parts {
  const meanLengths = new Float64Array(FIELD_COUNT);
  let [places, count, meanServerName, meanServerDescription] = [0, 0, 0, 0];
  const parts = searched.map(({ segment, server, shown }): Part => {
    const names = toTerms(server.name, MAX_SERVER_CHARS);
    const descriptions = toTerms(server.description, MAX_SERVER_CHARS);
    const part = {
      segment,
      shown,
      count: addLengths(segment, shown, meanLengths),
      offset: places,
      serverName: toCounts(names),
      serverDescription: toCounts(descriptions),
      serverNameLength: names.length,
      serverDescriptionLength: descriptions.length,
    };
    places += segment.size;
    count += part.count;
    meanServerName += part.count * names.length;
    meanServerDescription += part.count * descriptions.length;
    return part;
  });
  const most = Math.max(count, 1);
  return {
    parts,
    places,
    count,
    meanLengths: meanLengths.map(sum => sum / most),
    meanServerName: meanServerName / most,
    meanServerDescription: meanServerDescription / most,
  };
}

/** Adds the lengths of the fields of tools that take part, and counts these. */
function addLengths(segment: Segment, shown: Uint8Array | undefined, sums: Float64Array): number {
  let count = 0;
  for (let tool = 0; tool < segment.size; tool += 1) {
    if (shown && !shown[tool]) continue;
    count += 1;
    for (let field = 0; field < FIELD_COUNT; field += 1) {
      sums[field] = (sums[field] ?? 0) + (segment.lengths[FIELD_COUNT * tool + field] ?? 0);
    }
  }
  return count;
}

function toCounts(terms: readonly string[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const term of terms) {
    const hash = hashText(term);
    counts.set(hash, (counts.get(hash) ?? 0) + 1);
  }
  return counts;
}
