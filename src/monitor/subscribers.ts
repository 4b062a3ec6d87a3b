/**
 * Stores which objects subscribe to which resources of one server, in the monitor's storage: the monitor subscribes at the server once for
 * each URI, however many objects want it.
 */
import { sha256Hex } from '../shared/crypto/base64url.ts';
import { covers } from '../shared/events.ts';

const PREFIX = 'subscriber/';
/** Maximum number of subscribed resources of one server. */
const MAX_URIS = 5_000;

interface Subscriber {
  uri: string;
  owner: string;
}

/** Hashed, since a URI and an owner's name together may be too long for a key. */
const keyOf = async ({ uri, owner }: Subscriber) =>
  `${PREFIX}${await sha256Hex(uri)}/${await sha256Hex(owner)}`;

export class Subscribers {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Whether an object subscribes to a resource. */
  async has(owner: string, uri: string): Promise<boolean> {
    return (await this.#storage.get(await keyOf({ uri, owner }))) !== undefined;
  }

  /** @returns whether this is the URI's first subscription; undefined if there are too many */
  async add(owner: string, uri: string): Promise<boolean | undefined> {
    const uris = await this.uris();
    if (!uris.includes(uri) && uris.length >= MAX_URIS) return undefined;
    await this.#storage.put(await keyOf({ uri, owner }), { uri, owner });
    return !uris.includes(uri);
  }

  /** @returns whether this was the URI's last subscription */
  async remove(owner: string, uri: string): Promise<boolean> {
    const existed = await this.#storage.delete(await keyOf({ uri, owner }));
    return existed && !(await this.uris()).includes(uri);
  }

  /** Lists every subscribed URI. */
  async uris(): Promise<string[]> {
    return [...new Set((await this.#all()).map(({ uri }) => uri))];
  }

  /** Lists the subscribers to notify of an update, each with the URI it subscribed to. */
  async of(uri: string): Promise<Subscriber[]> {
    return (await this.#all()).filter(subscriber => covers(subscriber.uri, uri));
  }

  async #all(): Promise<Subscriber[]> {
    return [...(await this.#storage.list<Subscriber>({ prefix: PREFIX })).values()];
  }
}
