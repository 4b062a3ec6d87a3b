/**
 * Who wants to hear of which resource of one server, in the monitor's storage: the server is
 * subscribed to once for each URI, however many objects want to hear of it.
 */
import { sha256Hex } from '../shared/crypto/base64url.ts';
import { covers } from '../shared/events.ts';

const PREFIX = 'subscriber/';
/** Most resources of one server that are subscribed to. */
const MAX_URIS = 5_000;

interface Subscriber {
  uri: string;
  owner: string;
}

/** A URI and an owner's name may be longer than a key together. */
const keyOf = async ({ uri, owner }: Subscriber) =>
  `${PREFIX}${await sha256Hex(uri)}/${await sha256Hex(owner)}`;

export class Subscribers {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** @returns whether nobody had wanted the URI before; undefined where there are too many */
  async add(owner: string, uri: string): Promise<boolean | undefined> {
    const uris = await this.uris();
    if (!uris.includes(uri) && uris.length >= MAX_URIS) return undefined;
    await this.#storage.put(await keyOf({ uri, owner }), { uri, owner });
    return !uris.includes(uri);
  }

  /** @returns whether nobody wants the URI any more */
  async remove(owner: string, uri: string): Promise<boolean> {
    const existed = await this.#storage.delete(await keyOf({ uri, owner }));
    return existed && !(await this.uris()).includes(uri);
  }

  /** Every URI somebody wants to hear of. */
  async uris(): Promise<string[]> {
    return [...new Set((await this.#all()).map(({ uri }) => uri))];
  }

  /** Who is to hear of an update, each with the URI it subscribed to. */
  async of(uri: string): Promise<Subscriber[]> {
    return (await this.#all()).filter(subscriber => covers(subscriber.uri, uri));
  }

  async #all(): Promise<Subscriber[]> {
    return [...(await this.#storage.list<Subscriber>({ prefix: PREFIX })).values()];
  }
}
