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
  /** Which tools take part, one byte for each, by place; absent: all. Must not change. */
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
  /** The places of tools that take part, in order. */
  taking: Int32Array;
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
  const total = searched.reduce((sum, { segment }) => sum + segment.size, 0);
  const taking = new Int32Array(total);
  let [places, count, serverName, serverDescription] = [0, 0, 0, 0];
  const order = [...searched.keys()].toSorted((a, b) =>
    compareTexts(searched[a]?.server.name ?? '', searched[b]?.server.name ?? ''),
  );
  const parts = order.flatMap((index): Part[] => {
    const one = searched[index];
    if (!one) return [];
    const { segment, shown, modelVectors } = one;
    const server = toServerText(segment, one.server, embedding);
    const before = count;
    for (let tool = 0; tool < segment.size; tool += 1) {
      if (shown && !shown[tool]) continue;
      taking[count] = places + tool;
      count += 1;
      addLengths(segment, tool, sums);
    }
    const offset = places;
    const own = count - before;
    places += segment.size;
    serverName += own * server.nameLength;
    serverDescription += own * server.descriptionLength;
    return [{ searched: index, segment, shown, modelVectors, count: own, offset, server }];
  });
  const most = Math.max(count, 1);
  return {
    parts,
    places,
    taking: taking.subarray(0, count),
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

/** The part that a place is in. */
export function partAt({ parts }: Parts, place: number): Part | undefined {
  let low = 0;
  let high = parts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((parts[middle]?.offset ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return parts[low - 1];
}

function addLengths({ lengths }: Segment, tool: number, sums: Float64Array): void {
  for (let field = 0; field < FIELD_COUNT; field += 1) {
    sums[field] = (sums[field] ?? 0) + (lengths[FIELD_COUNT * tool + field] ?? 0);
  }
}
