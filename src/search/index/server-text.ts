/**
 * What the registry's record of a server adds to its tools in a search. It is remembered for as long as the segment is, because it is the same for each
 * query and longer to read than all else; it belongs to no caller. Pure but for that.
 */
import type { Embedding } from '../text/embedding.ts';
import type { Segment } from './segment.ts';
import { Lru } from '../../shared/util/lru.ts';
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
  /** The terms of both. */
  terms: Uint32Array;
  /** Of its name. */
  vector: Float32Array;
  embeddingId: number;
}

const MAX_NAME_CHARS = 256;
const MAX_DESCRIPTION_CHARS = 2_000;

/** Servers with the same catalog whose records are remembered. */
const MAX_SERVERS = 2_000;

const known = new WeakMap<Segment, Lru<string, ServerText>>();

/** A server's record, read now or before. */
export function toServerText(
  segment: Segment,
  { name, description }: SearchedServer,
  embedding: Embedding,
): ServerText {
  let texts = known.get(segment);
  if (!texts) known.set(segment, (texts = new Lru(MAX_SERVERS)));
  const before = texts.get(name);
  if (before?.description === description && before.embeddingId === embedding.id) return before;
  const nameTerms = toTerms(name, MAX_NAME_CHARS);
  const descriptionTerms = toTerms(description, MAX_DESCRIPTION_CHARS);
  const [names, descriptions] = [toCounts(nameTerms), toCounts(descriptionTerms)];
  const text = {
    name,
    description,
    names,
    descriptions,
    nameLength: nameTerms.length,
    descriptionLength: descriptionTerms.length,
    terms: Uint32Array.from(new Set([...names.keys(), ...descriptions.keys()])),
    vector: embedding.embed(name),
    embeddingId: embedding.id,
  };
  texts.set(name, text);
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
