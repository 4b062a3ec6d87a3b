/**
 * What a monitor found out of how its server is reached, in its storage: a monitor that slept asks its next question in the session it has,
 * and opens none. Invariant: what is dropped is never found again, also not by who asked before.
 */
import type { KnownUpstream, WatchMemory } from '../upstream/discovery/known-upstream.ts';

const KEY = 'upstream';
/** A server is negotiated with anew after this time, in milliseconds: it may speak another era since. */
const MAX_AGE_MS = 86_400_000;
/** What is longer as JSON is not kept: a value has a bound. */
const MAX_CHARS = 500_000;

export class StoredWatch implements WatchMemory {
  readonly #storage: DurableObjectStorage;
  /** Null where there is nothing; undefined before it was read. */
  #held: KnownUpstream | null | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  async find(credentialKey: string): Promise<KnownUpstream | undefined> {
    if (this.#held === undefined) {
      const stored = (await this.#storage.get<KnownUpstream>(KEY)) ?? null;
      this.#held ??= stored;
    }
    const known = this.#held;
    const isUsable =
      known?.credentialKey === credentialKey && Date.now() - known.negotiatedAt < MAX_AGE_MS;
    return isUsable ? known : undefined;
  }

  async keep(known: KnownUpstream): Promise<void> {
    if (JSON.stringify(known).length > MAX_CHARS) return this.drop();
    this.#held = known;
    await this.#storage.put(KEY, known);
  }

  async drop(): Promise<void> {
    if (this.#held === null) return;
    this.#held = null;
    await this.#storage.delete(KEY);
  }
}
