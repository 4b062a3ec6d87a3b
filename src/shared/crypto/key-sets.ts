/** Key sets of others, remembered by the isolate: read again when they are old, or for a key that is not known, but not at every asking. */
import { Lru } from '../util/lru.ts';
import { keysFor, type Algorithm, type SigningKey } from './signing-keys.ts';

/** Keys are read anew for a key that is not known no more often than this, in milliseconds. */
const AGAIN_MS = 60_000;

/** A key set as it was read; until when it may be used, in milliseconds since the epoch. */
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

  /** The keys of whom a name stands for that may have made a signature. @param read what it throws is thrown */
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
