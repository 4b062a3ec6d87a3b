/**
 * Parts of the index in an isolate's memory, by the hashes of their catalogs. Bounded in bytes: what was not used for a while makes room, and what
 * finds none is not taken, so that many catalogs in use do not drive each other out, search by search.
 */

/** What was used within this time is in use, in milliseconds. */
const IN_USE_MS = 60_000;

export class HeldParts<V> {
  readonly #held = new Map<string, { value: V; usedAt: number }>();
  readonly #maxBytes: number;
  readonly #bytesOf: (value: V) => number;
  #bytes = 0;

  constructor(maxBytes: number, bytesOf: (value: V) => number) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
  }

  get(hash: string, now: number): V | undefined {
    const entry = this.#held.get(hash);
    if (entry) entry.usedAt = now;
    return entry?.value;
  }

  /** @returns whether there was room */
  set(hash: string, value: V, now: number): boolean {
    const bytes = this.#bytesOf(value);
    if (this.#held.has(hash)) return false;
    if (this.#bytes + bytes > this.#maxBytes) this.#makeRoom(bytes, now);
    if (this.#bytes + bytes > this.#maxBytes) return false;
    this.#held.set(hash, { value, usedAt: now });
    this.#bytes += bytes;
    return true;
  }

  #makeRoom(bytes: number, now: number): void {
    for (const [other, { value, usedAt }] of this.#held) {
      if (this.#bytes + bytes <= this.#maxBytes) return;
      if (now - usedAt < IN_USE_MS) continue;
      this.#held.delete(other);
      this.#bytes -= this.#bytesOf(value);
    }
  }
}
