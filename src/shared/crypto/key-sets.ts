/** Caches others' key sets in the isolate: a set is read again when it is old, or for an unknown key, but not on every look-up. */
import { Lru } from '../util/lru.ts';
import { keysFor, type Algorithm, type SigningKey } from './signing-keys.ts';

/** Shortest time between two reads for an unknown key, in milliseconds. */
const AGAIN_MS = 60_000;

/** A key set as read, and until when it may be used, in milliseconds since the epoch. */
export interface ReadKeys {
  keys: readonly SigningKey[];
  freshUntil: number;
}

export class KeySets {
  readonly #sets: Lru<string, ReadKeys & { readAt: number }>;
  readonly #now: () => number;

  constructor(maxSets: number, now: () => number) {
    this.#sets = new Lru(maxSets);
    this.#now = now;
  }

  /** Returns the keys of the named party that may have made a signature. @param read its errors are passed on */
  async find(
    name: string,
    { alg, kid }: { alg: Algorithm; kid?: string | undefined },
    read: () => Promise<ReadKeys>,
  ): Promise<SigningKey[]> {
    const known = this.#sets.get(name);
    if (known && known.freshUntil > this.#now()) {
      const keys = keysFor(known.keys, alg, kid);
      if (keys.length > 0 || known.readAt > this.#now() - AGAIN_MS) return keys;
    }
    const found = await read();
    this.#sets.set(name, { ...found, readAt: this.#now() });
    return keysFor(found.keys, alg, kid);
  }
}
