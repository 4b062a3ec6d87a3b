/**
 * Searches that were laid out and may come again: who asks twice reaches the same servers and sees the same tools of them. Known by the very objects
 * that it is made of, so another catalog, record or view is another layout, and a caller has none that is not its own to the last tool.
 * Bounded in number and in bytes of what they hold.
 */
import type { Embedding } from '../text/embedding.ts';
import type { ModelVectors } from './model-vectors.ts';
import { toParts, type Parts, type Searched } from './part.ts';
import type { Segment } from './segment.ts';

const MAX_LAYOUTS = 6;
/** Bytes of segments that layouts hold, each counted as often as it is held. */
const MAX_BYTES = 16_777_216;

/** What a layout is made of, of one part. */
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
  /** Whether it was asked for again. */
  isUsed: boolean;
}

export class HeldLayouts {
  readonly #maxBytes: number;
  /** The one used last comes first. */
  #held: Held[] = [];

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The layout of a search, made now or before. */
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

  /** Makes room: what was never asked for again goes first, so that many different searches leave what comes again. */
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

/** What this isolate laid out. */
const layouts = new HeldLayouts();

/** Lays out a search, or gives the layout of an equal one. */
export const layOut = (searched: readonly Searched[], embedding: Embedding): Parts =>
  layouts.of(searched, embedding);

const toMade = ({ segment, shown, modelVectors, server }: Searched): Made => {
  const { name, description } = server;
  return { segment, shown, modelVectors, name, description };
};

function isMadeOf(made: readonly Made[], asked: readonly Searched[]): boolean {
  return (
    made.length === asked.length &&
    made.every((one, i) => {
      const other = asked[i];
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
