/**
 * The semantic half of a segment: one unit vector for each tool, in signed bytes with a scale. A tool whose text is as it was keeps its vector. Pure.
 */
import type { Embedding } from './embedding.ts';
import type { SegmentArrays } from './segment-layout.ts';
import {
  MAX_DESCRIPTION_CHARS,
  MAX_NAME_CHARS,
  MAX_TITLE_CHARS,
  type SearchedTool,
} from './searched-tool.ts';
import type { Segment } from './segment.ts';
import { hashText } from './terms.ts';

type Vectors = Pick<SegmentArrays, 'textHashes' | 'vectorScales' | 'vectors'>;

const MOST = 127;
const SECOND_SEED = 0x9e3779b9;

/** Writes the vectors of tools, by their place in the list, into `arrays`. */
export function toVectors(
  tools: readonly SearchedTool[],
  embedding: Embedding,
  arrays: Vectors,
  previous: Segment | undefined,
): void {
  const { dimensions } = embedding;
  const known =
    previous?.embeddingId === embedding.id ? toPlaces(previous) : new Map<number, number>();
  tools.forEach((tool, index) => {
    const text = toEmbeddedText(tool);
    const first = hashText(text);
    const second = hashText(text, SECOND_SEED);
    arrays.textHashes[2 * index] = first;
    arrays.textHashes[2 * index + 1] = second;
    const place = known.get(first);
    if (previous && place !== undefined && previous.textHashes[2 * place + 1] === second) {
      const from = dimensions * place;
      arrays.vectors.set(previous.vectors.subarray(from, from + dimensions), dimensions * index);
      arrays.vectorScales[index] = previous.vectorScales[place] ?? 0;
    } else {
      writeVector(embedding.embed(text), index, arrays);
    }
  });
}

function toPlaces(segment: Segment): Map<number, number> {
  const places = new Map<number, number>();
  for (let i = 0; i < segment.size; i += 1) places.set(segment.textHashes[2 * i] ?? 0, i);
  return places;
}

function toEmbeddedText({ name, title = '', description = '' }: SearchedTool): string {
  return [
    name.slice(0, MAX_NAME_CHARS),
    title.slice(0, MAX_TITLE_CHARS),
    description.slice(0, MAX_DESCRIPTION_CHARS),
  ].join(' ');
}

function writeVector(vector: Float32Array, index: number, arrays: Vectors): void {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const scale = largest / MOST;
  arrays.vectorScales[index] = scale;
  if (scale === 0) return;
  vector.forEach((value, i) => {
    arrays.vectors[index * vector.length + i] = Math.round(value / scale);
  });
}
