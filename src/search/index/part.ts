/**
 * Lays out a search: one part per catalog, with which of its tools take part. All statistics of a search are computed over these tools
 * alone, so a tool hidden from the caller changes no number. Parts are ordered by server name, so that sums are equal to the last bit
 * whatever order the catalogs arrive in. Pure.
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
  /** A model's vectors for its tools, or for the first of them. */
  modelVectors?: ModelVectors | undefined;
}

/** One catalog in a search. */
export interface Part {
  /** Index into the list of `Searched`. */
  searched: number;
  segment: Segment;
  shown: Uint8Array | undefined;
  modelVectors: ModelVectors | undefined;
  /** How many tools take part. */
  count: number;
  /** Where its tools begin in the score arrays. */
  offset: number;
  server: ServerText;
}

/** The layout of a search, with statistics over all tools that take part. */
export interface Parts {
  parts: readonly Part[];
  /** Length of the score arrays, which also count tools that take no part. */
  places: number;
  /** Places in the score arrays of the tools that take part, ascending. */
  taking: Int32Array;
  /** How many tools take part. */
  count: number;
  /** Mean number of terms per tool: of each of its fields, of its server's name, of its server's description. */
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

/** Compares by UTF-16 code units. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns the part that a place in the score arrays belongs to. */
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
