/** Where and how a server is reached: its address and opened headers. */
import { PorticoError } from '../errors/portico-error.ts';
import { Lru } from '../lib/lru.ts';
import type { Server } from '../registry/server-schema.ts';
import { openHeaders } from '../secrets/sealed-headers.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { decideAddress } from './guard.ts';

export interface Destination {
  serverId: string;
  name: string;
  url: string;
  /** Header names in lower case. Holds credentials: never logged, never answered. */
  headers: Readonly<Record<string, string>>;
  /** Changes when address or credential change; sessions and verdicts hang on it. */
  credentialKey: string;
}

/** Makes destinations of registry records; remembers opened headers by their ciphertext. */
export class Destinations {
  readonly #keys: KeyRing;
  readonly #localMode: boolean;
  readonly #opened = new Lru<string, Record<string, string>>(500);

  constructor(keys: KeyRing, localMode: boolean) {
    this.#keys = keys;
    this.#localMode = localMode;
  }

  /** @throws PorticoError where the address is not allowed or the headers cannot be opened */
  async of(server: Server): Promise<Destination> {
    const decision = decideAddress(server.url, this.#localMode);
    if (!decision.allowed) throw new PorticoError('upstream_refused_address', decision.reason);
    return {
      serverId: server.id,
      name: server.name,
      url: server.url,
      headers: await this.#headers(server),
      credentialKey: `${server.url} ${server.headersSealed ?? ''}`,
    };
  }

  async #headers(server: Server): Promise<Record<string, string>> {
    const sealed = server.headersSealed;
    if (sealed === null) return {};
    const known = this.#opened.get(sealed);
    if (known) return known;
    const headers = await openHeaders(this.#keys, server.id, server.url, sealed);
    if (headers === undefined) {
      throw new PorticoError('upstream_auth', 'The stored credential cannot be opened');
    }
    this.#opened.set(sealed, headers);
    return headers;
  }
}
