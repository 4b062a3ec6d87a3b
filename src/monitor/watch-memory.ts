/**
 * What a monitor found out about the connection to its server, in its storage: a monitor that slept sends its next request in the existing
 * session and opens no new one. Invariant: once dropped, a value is never returned again, not even by a `find` that had already begun to
 * read.
 */
import type { KnownUpstream, WatchMemory } from '../upstream/discovery/known-upstream.ts';

const KEY = 'upstream';
/** After this time the server is negotiated with again, in milliseconds: it may speak another era by then. */
const MAX_AGE_MS = 86_400_000;
/** A value with a longer JSON is not stored, because storage limits its size. */
const MAX_CHARS = 500_000;

export class StoredWatch implements WatchMemory {
  readonly #storage: DurableObjectStorage;
  /** Null if there is none; undefined before it was read. */
  #held: KnownUpstream | null | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  async find(credentialKey: string): Promise<KnownUpstream | undefined> {
    if (this.#held === undefined) {
      const stored = (await this.#storage.get<KnownUpstream>(KEY)) ?? null;
      // Dropped meanwhile: null.
      if (this.#held === undefined) this.#held = stored;
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
