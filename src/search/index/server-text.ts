/**
 * What a server's record in the registry adds to its tools in a search. Cached for as long as the segment lives, because it is the same for
 * every query and takes longer to analyse than anything else; it depends on no caller. Pure except for this cache.
 */
import type { Embedding } from '../text/embedding.ts';
import type { Segment } from './segment.ts';
import { Lru } from '../../shared/util/lru.ts';
import { hashText, toTerms } from '../text/terms.ts';

/** Texts of the server's record in the registry. */
export interface SearchedServer {
  name: string;
  description: string;
}

/** The analysed record of a server. */
export interface ServerText extends SearchedServer {
  /** How often each term occurs in its name, and in its description. */
  names: ReadonlyMap<number, number>;
  descriptions: ReadonlyMap<number, number>;
  nameLength: number;
  descriptionLength: number;
  /** The terms of name and description. */
  terms: Uint32Array;
  /** Vector of its name. */
  vector: Float32Array;
  embeddingId: number;
}

const MAX_NAME_CHARS = 256;
const MAX_DESCRIPTION_CHARS = 2_000;

/** How many server records are cached per catalog. */
const MAX_SERVERS = 2_000;

const known = new WeakMap<Segment, Lru<string, ServerText>>();

/** Returns a server's analysed record, from the cache where possible. */
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
