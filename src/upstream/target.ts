/** Where and how a server is reached: its address and opened headers. */
import { PorticoError } from '../errors/portico-error.ts';
import { Lru } from '../lib/lru.ts';
import type { Server } from '../registry/server-schema.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { decideAddress } from './guard.ts';

export interface Target {
  serverId: string;
  name: string;
  url: string;
  /** Header names in lower case. Holds credentials: never logged, never answered. */
  headers: Readonly<Record<string, string>>;
  /** Changes when address or credential change; sessions and verdicts hang on it. */
  credentialKey: string;
}

/** What a ciphertext of headers is bound to: version, server, origin and field. */
function headersAad(serverId: string, url: string): string {
  return `1|${serverId}|${new URL(url).origin}|headers`;
}

/** Seal a server's headers for storage. */
export function sealHeaders(
  keys: KeyRing,
  serverId: string,
  url: string,
  headers: Record<string, string>,
): Promise<string> {
  return keys.seal('credential', JSON.stringify(headers), headersAad(serverId, url));
}

/** Makes targets of registry records; remembers opened headers by their ciphertext. */
export class Targets {
  readonly #keys: KeyRing;
  readonly #localMode: boolean;
  readonly #opened = new Lru<string, Record<string, string>>(500);

  constructor(keys: KeyRing, localMode: boolean) {
    this.#keys = keys;
    this.#localMode = localMode;
  }

  /** @throws PorticoError where the address is not allowed or the headers cannot be opened */
  async of(server: Server): Promise<Target> {
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
    const text = await this.#keys.open('credential', sealed, headersAad(server.id, server.url));
    if (text === undefined) {
      throw new PorticoError('upstream_auth', 'The stored credential cannot be opened');
    }
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(JSON.parse(text) as Record<string, string>)) {
      headers[name.toLowerCase()] = value;
    }
    this.#opened.set(sealed, headers);
    return headers;
  }
}
