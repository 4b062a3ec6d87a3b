/**
 * What the registry's record of a server adds to its tools in a search. It is remembered for as long as the segment is, because it is the same for each
 * query and longer to read than all else; it belongs to no caller. Pure but for that.
 */
import type { Embedding } from '../text/embedding.ts';
import type { Segment } from './segment.ts';
import { hashText, toTerms } from '../text/terms.ts';

/** As the registry has it. */
export interface SearchedServer {
  name: string;
  description: string;
}

/** A server's record, read. */
export interface ServerText extends SearchedServer {
  /** How often each term is in its name, and in its description. */
  names: ReadonlyMap<number, number>;
  descriptions: ReadonlyMap<number, number>;
  nameLength: number;
  descriptionLength: number;
  /** Of its name. */
  vector: Float32Array;
  embeddingId: number;
}

const MAX_NAME_CHARS = 256;
const MAX_DESCRIPTION_CHARS = 2_000;

const known = new WeakMap<Segment, ServerText>();

/** A server's record, read now or before. */
export function toServerText(
  segment: Segment,
  { name, description }: SearchedServer,
  embedding: Embedding,
): ServerText {
  const before = known.get(segment);
  const isSame = before?.name === name && before.description === description;
  if (before && isSame && before.embeddingId === embedding.id) return before;
  const names = toTerms(name, MAX_NAME_CHARS);
  const descriptions = toTerms(description, MAX_DESCRIPTION_CHARS);
  const text = {
    name,
    description,
    names: toCounts(names),
    descriptions: toCounts(descriptions),
    nameLength: names.length,
    descriptionLength: descriptions.length,
    vector: embedding.embed(name),
    embeddingId: embedding.id,
  };
  known.set(segment, text);
  return text;
}

function toCounts(terms: readonly string[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const term of terms) {
    const hash = hashText(term);
    counts.set(hash, (counts.get(hash) ?? 0) + 1);
  }
  return counts;
}
