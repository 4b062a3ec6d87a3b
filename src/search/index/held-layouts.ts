/**
 * Cache of search layouts: a caller who searches again usually reaches the same servers and sees the same tools. The key is the identity of
 * the objects a layout is built from, so a changed catalog, record or view is a cache miss, and no caller gets a layout with other tools
 * than its own. Bounded by number and by the bytes it holds.
 */
import type { Embedding } from '../text/embedding.ts';
import type { ModelVectors } from './model-vectors.ts';
import { toParts, type Parts, type Searched } from './part.ts';
import type { Segment } from './segment.ts';

const MAX_LAYOUTS = 6;
/** Total bytes of the segments held by layouts; a segment in several layouts counts several times. */
const MAX_BYTES = 16_777_216;

/** Key of one part of a layout. */
interface Made {
  segment: Segment;
  shown: Uint8Array | undefined;
  modelVectors: ModelVectors | undefined;
  name: string;
  description: string;
}

interface Held {
  of: readonly Made[];
  embeddingId: number;
  parts: Parts;
  bytes: number;
  /** Whether a later search has used it again. */
  isUsed: boolean;
}

export class HeldLayouts {
  readonly #maxBytes: number;
  /** Most recently used first. */
  #held: Held[] = [];

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the cached layout of a search, or builds and caches one. */
  of(searched: readonly Searched[], embedding: Embedding): Parts {
    const known = this.#held.find(
      held => held.embeddingId === embedding.id && isMadeOf(held.of, searched),
    );
    if (known) {
      known.isUsed = true;
      this.#held = [known, ...this.#held.filter(held => held !== known)];
      return known.parts;
    }
    const parts = toParts(searched, embedding);
    const bytes = searched.reduce((sum, { segment }) => sum + segment.vectors.buffer.byteLength, 0);
    this.#add({ of: searched.map(toMade), embeddingId: embedding.id, parts, bytes, isUsed: false });
    return parts;
  }

  /** Adds a layout and evicts others: those never reused go first, so that many one-off searches do not evict recurring ones. */
  #add(made: Held): void {
    if (made.bytes > this.#maxBytes) return;
    this.#held = [made, ...this.#held];
    const isOver = () =>
      this.#held.length > MAX_LAYOUTS ||
      this.#held.reduce((sum, { bytes }) => sum + bytes, 0) > this.#maxBytes;
    while (isOver()) {
      const goes = this.#held.findLast(held => !held.isUsed && held !== made) ?? this.#held.at(-1);
      this.#held = this.#held.filter(held => held !== goes);
    }
  }
}

/** This isolate's layouts. */
const layouts = new HeldLayouts();

/** Returns the layout of a search, from this isolate's cache where possible. */
export const layOut = (searched: readonly Searched[], embedding: Embedding): Parts =>
  layouts.of(searched, embedding);

const toMade = ({ segment, shown, modelVectors, server }: Searched): Made => {
  const { name, description } = server;
  return { segment, shown, modelVectors, name, description };
};

function isMadeOf(made: readonly Made[], searched: readonly Searched[]): boolean {
  return (
    made.length === searched.length &&
    made.every((one, i) => {
      const other = searched[i];
      return (
        one.segment === other?.segment &&
        one.shown === other.shown &&
        one.modelVectors === other.modelVectors &&
        one.name === other.server.name &&
        one.description === other.server.description
      );
    })
  );
}
