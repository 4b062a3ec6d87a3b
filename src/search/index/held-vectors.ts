/**
 * Vectors of catalogs in an isolate's memory, by the hashes of the catalogs. Bounded in bytes: what was not used for a while makes room, and what
 * finds none is not taken, so that many catalogs in use do not drive each other out, search by search.
 */
import type { ModelVectors } from './model-vectors.ts';

/** A quarter of what an isolate has. */
const MAX_BYTES = 33_554_432;
/** What was used within this time is in use, in milliseconds. */
const IN_USE_MS = 60_000;

export class HeldVectors {
  readonly #held = new Map<string, { vectors: ModelVectors; usedAt: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get(hash: string, now: number): ModelVectors | undefined {
    const entry = this.#held.get(hash);
    if (entry) entry.usedAt = now;
    return entry?.vectors;
  }

  /** @returns whether there was room */
  set(hash: string, vectors: ModelVectors, now: number): boolean {
    const { byteLength } = vectors.vectors;
    for (const [other, { vectors: old, usedAt }] of this.#held) {
      if (this.#bytes + byteLength <= this.#maxBytes) break;
      if (now - usedAt < IN_USE_MS) continue;
      this.#held.delete(other);
      this.#bytes -= old.vectors.byteLength;
    }
    if (this.#held.has(hash) || this.#bytes + byteLength > this.#maxBytes) return false;
    this.#held.set(hash, { vectors, usedAt: now });
    this.#bytes += byteLength;
    return true;
  }
}
