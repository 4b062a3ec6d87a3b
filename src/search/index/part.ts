/**
 * The parts that a search goes through, one for each catalog, with which tools of it take part. Everything that is counted for a search is counted
 * over these tools alone: a tool that is hidden from the caller changes no number. In the order of the servers' names, so that sums are the same
 * to the last bit in whatever order the catalogs come. Pure.
 */
import type { Embedding } from '../text/embedding.ts';
import { FIELD_COUNT } from './segment-layout.ts';
import type { ModelVectors } from './model-vectors.ts';
import type { Segment } from './segment.ts';
import { TermMap, type Having } from './term-map.ts';
import { toServerText, type SearchedServer, type ServerText } from './server-text.ts';

export interface Searched {
  segment: Segment;
  server: SearchedServer;
  /** Which tools take part, one byte for each, by place; absent: all. */
  shown?: Uint8Array;
  /** What a model made of its first tools, or all. */
  modelVectors?: ModelVectors | undefined;
}

/** One catalog in a search. */
export interface Part {
  /** Index of its `Searched`. */
  searched: number;
  segment: Segment;
  shown: Uint8Array | undefined;
  modelVectors: ModelVectors | undefined;
  /** How many tools take part. */
  count: number;
  /** Where its tools begin in the arrays of scores. */
  offset: number;
  server: ServerText;
}

/** What is known of all tools that take part. */
export interface Parts {
  parts: readonly Part[];
  /** Places in the arrays of scores, of tools that take no part too. */
  places: number;
  /** How many tools take part. */
  count: number;
  /** Mean number of terms of each field of a tool; of the server's name and its description. */
  meanLengths: Float64Array;
  meanServerName: number;
  meanServerDescription: number;
  having: Having;
}

const terms = new TermMap();

/** Lays out a search. */
export function toParts(
  searched: readonly Searched[],
  embedding: Embedding,
  termMap: Pick<TermMap, 'of'> = terms,
): Parts {
  const sums = new Float64Array(FIELD_COUNT);
  let [places, count, serverName, serverDescription] = [0, 0, 0, 0];
  const order = [...searched.keys()].toSorted((a, b) =>
    compareTexts(searched[a]?.server.name ?? '', searched[b]?.server.name ?? ''),
  );
  const parts = order.flatMap((index): Part[] => {
    const one = searched[index];
    if (!one) return [];
    const { segment, shown, modelVectors } = one;
    const server = toServerText(segment, one.server, embedding);
    const shownCount = addLengths(segment, shown, sums);
    const offset = places;
    places += segment.size;
    count += shownCount;
    serverName += shownCount * server.nameLength;
    serverDescription += shownCount * server.descriptionLength;
    return [{ searched: index, segment, shown, modelVectors, count: shownCount, offset, server }];
  });
  const most = Math.max(count, 1);
  return {
    parts,
    places,
    count,
    meanLengths: sums.map(sum => sum / most),
    meanServerName: serverName / most,
    meanServerDescription: serverDescription / most,
    having: termMap.of(parts),
  };
}

/** By code units. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Calls with each place whose tool takes part, in order. */
export function eachPlace(all: Parts, visit: (place: number) => void): void {
  for (const { segment, shown, offset } of all.parts) {
    for (let tool = 0; tool < segment.size; tool += 1) {
      if (!shown || shown[tool]) visit(offset + tool);
    }
  }
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
