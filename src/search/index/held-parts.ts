/**
 * In-memory cache of index parts, keyed by catalog hash and bounded in bytes. Only entries that are not in use are evicted; if there is
 * still no room, a new part is not cached. So a working set larger than the bound does not make every search evict what the next one needs.
 */

/** An entry used within this time counts as in use, in milliseconds. */
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

  /** @returns whether the value was added: false where there was no room or the hash was already held */
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
