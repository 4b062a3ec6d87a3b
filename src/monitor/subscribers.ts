/**
 * Stores which objects subscribe to which resources of one server, in the monitor's storage: the monitor subscribes at the server once for
 * each URI, however many objects want it. What is stored is read once, since updates and check cycles ask for it again and again.
 */
import { sha256Hex } from '../shared/crypto/base64url.ts';
import { covers } from '../shared/events.ts';

const PREFIX = 'subscriber/';
/** Maximum number of subscribed resources of one server, and of subscriptions to them by all objects. */
const MAX_URIS = 5_000;
const MAX_SUBSCRIPTIONS = 50_000;
/**
 * Maximum length of all these resources' URIs as JSON. A modern server gets all of them whenever one is added, and repeats them in one event
 * of bounded size (`upstream/streams/listen.ts`).
 */
const MAX_CHARS = 500_000;

interface Subscriber {
  uri: string;
  owner: string;
}

/** Hashed, since a URI and an owner's name together may be too long for a key. */
const keyOf = async ({ uri, owner }: Subscriber) =>
  `${PREFIX}${await sha256Hex(uri)}/${await sha256Hex(owner)}`;

const charsOf = (uri: string): number => JSON.stringify(uri).length;

export class Subscribers {
  readonly #storage: DurableObjectStorage;
  /** The owners by URI. */
  #held: Promise<Map<string, Set<string>>> | undefined;
  #count = 0;
  #chars = 0;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Whether an object subscribes to a resource. */
  async has(owner: string, uri: string): Promise<boolean> {
    return (await this.#all()).get(uri)?.has(owner) ?? false;
  }

  /** @returns whether this is the URI's first subscription; undefined if there are too many */
  async add(owner: string, uri: string): Promise<boolean | undefined> {
    const all = await this.#all();
    const owners = all.get(uri);
    if (owners?.has(owner)) return false;
    const isFull = all.size >= MAX_URIS || this.#chars + charsOf(uri) > MAX_CHARS;
    if (this.#count >= MAX_SUBSCRIPTIONS || (!owners && isFull)) return undefined;
    if (owners) owners.add(owner);
    else {
      all.set(uri, new Set([owner]));
      this.#chars += charsOf(uri);
    }
    this.#count += 1;
    await this.#storage.put(await keyOf({ uri, owner }), { uri, owner });
    return !owners;
  }

  /** @returns whether this was the URI's last subscription */
  async remove(owner: string, uri: string): Promise<boolean> {
    const all = await this.#all();
    const owners = all.get(uri);
    if (!owners?.delete(owner)) return false;
    this.#count -= 1;
    if (owners.size === 0) {
      all.delete(uri);
      this.#chars -= charsOf(uri);
    }
    await this.#storage.delete(await keyOf({ uri, owner }));
    return owners.size === 0;
  }

  /** Lists every subscribed URI. */
  async uris(): Promise<string[]> {
    return [...(await this.#all()).keys()];
  }

  /** Lists the subscribers to notify of an update, each with the URI it subscribed to. */
  async of(uri: string): Promise<Subscriber[]> {
    return [...(await this.#all())].flatMap(([subscribed, owners]) =>
      covers(subscribed, uri) ? Array.from(owners, owner => ({ uri: subscribed, owner })) : [],
    );
  }

  /** Call after the storage was emptied. */
  forget(): void {
    this.#held = undefined;
    this.#count = 0;
    this.#chars = 0;
  }

  #all(): Promise<Map<string, Set<string>>> {
    this.#held ??= this.#read().catch((thrown: unknown) => {
      this.#held = undefined;
      throw thrown;
    });
    return this.#held;
  }

  async #read(): Promise<Map<string, Set<string>>> {
    const stored = await this.#storage.list<Subscriber>({ prefix: PREFIX });
    const all = new Map<string, Set<string>>();
    for (const { uri, owner } of stored.values()) {
      const owners = all.get(uri) ?? new Set();
      all.set(uri, owners.add(owner));
    }
    this.#count = stored.size;
    this.#chars = [...all.keys()].reduce((sum, uri) => sum + charsOf(uri), 0);
    return all;
  }
}
