/** Where and how a server is reached: its address and opened headers. */
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { Needle } from '../shared/redaction/byte-replacer.ts';
import { Lru } from '../shared/util/lru.ts';
import type { RequestBytes } from '../shared/limits/bytes-in-flight.ts';
import { parsePlace } from '../servers/registry/connector-place.ts';
import { toEndText } from '../servers/accounts/grant-schema.ts';
import type { RemoteAccountTokens } from '../servers/accounts/remote-account-tokens.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { AccessTokenSource } from '../credentials/oauth/grant-schema.ts';
import { hiddenInToken } from '../credentials/hidden-parts.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { OpenedCredentials } from '../credentials/opened-credentials.ts';
import { toNeedles } from './protocol/credential-forms.ts';
import { decideAddress } from '../http/address-policy.ts';
import {
  withoutCredential,
  type ConnectorFetch,
  type OutboundFetch,
} from './protocol/without-credential.ts';

/** The part of an upstream endpoint that is data and may be handed to an object. */
export interface Address {
  serverId: string;
  name: string;
  url: string;
  /** Header names in lower case. Holds credentials: never logged, never answered. */
  headers: Readonly<Record<string, string>>;
  /** Texts that the server's answers must not repeat to anybody. */
  hidden: readonly string[];
  /** Changes when address or credential change; sessions and negotiated protocols depend on it. */
  credentialKey: string;
  /** Which access token is sent, if one is. */
  tokenSerial?: number;
}

export interface UpstreamEndpoint extends Address {
  fetch: OutboundFetch;
  /** Counts the bytes that answers hold in memory for requests of the gateway itself, which no caller's request accounts for. */
  openBytes?: () => RequestBytes;
}

/** Returns an upstream endpoint without its fetch. */
export function addressOf({
  fetch: _fetch,
  openBytes: _bytes,
  ...address
}: UpstreamEndpoint): Address {
  return address;
}

/** Provides tokens of accounts (`servers/accounts/remote-account-tokens.ts`). */
export type AccountTokenSource = Pick<
  RemoteAccountTokens,
  'newest' | 'isFresh' | 'current' | 'refuse' | 'want'
>;

/** Fetches over the network. */
const direct: OutboundFetch = (url, init) => fetch(url, init);

/** Most credentials whose encoded forms are remembered. */
const MAX_NEEDLES = 1_000;

/** Makes upstream endpoints from registry records. */
export class UpstreamEndpoints {
  readonly #credentials: OpenedCredentials;
  readonly #allowsLoopback: boolean;
  readonly #tokens: AccessTokenSource;
  readonly #accounts: AccountTokenSource;
  readonly #connectors: ConnectorFetch;
  readonly #openBytes: () => RequestBytes;
  readonly #known = new WeakMap<Server, UpstreamEndpoint>();
  readonly #needles = new Lru<string, readonly Needle[]>(MAX_NEEDLES);

  constructor(
    keys: KeyRing,
    allowsLoopback: boolean,
    tokens: AccessTokenSource,
    accounts: AccountTokenSource,
    connectors: ConnectorFetch,
    openBytes: () => RequestBytes,
  ) {
    this.#credentials = new OpenedCredentials(keys);
    this.#allowsLoopback = allowsLoopback;
    this.#tokens = tokens;
    this.#accounts = accounts;
    this.#connectors = connectors;
    this.#openBytes = openBytes;
  }

  /**
   * Returns the endpoint of a server; it is remembered with the record if nothing in it can change before the record does.
   * @throws PorticoError if the address is not allowed or the credential cannot be used
   */
  of(server: Server): UpstreamEndpoint | Promise<UpstreamEndpoint> {
    if (!server.account) return this.#known.get(server) ?? this.#find(server);
    const newest = this.#accounts.newest(server);
    const known = this.#known.get(newest);
    return known && this.#accounts.isFresh(newest) ? known : this.#find(newest);
  }

  async #find(newest: Server): Promise<UpstreamEndpoint> {
    const server = await this.#accounts.current(newest);
    const address = await this.#addressOf(server);
    const endpoint = this.visible(address);
    const isOfRecord = server.account !== undefined || address.tokenSerial === undefined;
    if (isOfRecord) this.#known.set(server, endpoint);
    return endpoint;
  }

  /** Returns the endpoint for an address that was already allowed. */
  visible(address: Address): UpstreamEndpoint {
    const place = parsePlace(address.url);
    const outboundFetch = place ? this.#connectors(place.connectorId, place.server) : direct;
    const fetch = withoutCredential(outboundFetch, this.#needlesOf(address.hidden));
    return { ...address, fetch, openBytes: this.#openBytes };
  }

  #needlesOf(hidden: readonly string[]): readonly Needle[] {
    if (hidden.length === 0) return [];
    const key = hidden.join('\0');
    const known = this.#needles.get(key);
    if (known) return known;
    const needles = toNeedles(hidden);
    this.#needles.set(key, needles);
    return needles;
  }

  async #addressOf(server: Server): Promise<Address> {
    refuseWithout(server);
    if (server.transportType === 'STDIO') {
      // The connector decides as whom it runs on that machine; no credential of the gateway goes there.
      const { id: serverId, name, url } = server;
      return { serverId, name, url, headers: {}, hidden: [], credentialKey: url };
    }
    const decision = decideAddress(server.url, this.#allowsLoopback);
    if (!decision.allowed) throw new PorticoError('upstream_refused_address', decision.reason);
    const opened = await this.#credentials.of(server);
    const { id: serverId, name, url } = server;
    const credentialKey = `${url} ${opened.key}`;
    const { headers, hidden } = opened;
    if (!opened.grant) {
      const serial = server.account?.serial ?? undefined;
      const ofToken = serial === undefined ? {} : { tokenSerial: serial };
      return { serverId, name, url, headers, hidden, credentialKey, ...ofToken };
    }
    const token = await this.#tokens.of(server, opened);
    const text = await this.#credentials.openToken(server, token);
    return {
      serverId,
      name,
      url,
      headers: { ...headers, authorization: `Bearer ${text}` },
      hidden: [...hidden, ...hiddenInToken(text)],
      credentialKey,
      tokenSerial: token.serial,
    };
  }

  /** The server refused the credential; an access token is replaced, in the background. */
  async refuse(server: Server, { tokenSerial }: UpstreamEndpoint): Promise<void> {
    if (tokenSerial === undefined) return;
    if (server.account) await this.renewed(server, { tokenSerial }).catch(() => {});
    else await this.#tokens.refuse(server, tokenSerial);
  }

  /**
   * The server refused the token of an account.
   * @returns whether there is another one that it has not refused
   * @throws PorticoError `account_required`, `credential_unavailable`
   */
  async renewed(
    server: Server,
    { tokenSerial }: Pick<UpstreamEndpoint, 'tokenSerial'>,
  ): Promise<boolean> {
    return tokenSerial !== undefined && this.#accounts.refuse(server, tokenSerial);
  }

  /** The server asks for a larger scope than the account has; its owner is asked for it at the next sign-in. */
  want(server: Server, scope: string): Promise<void> {
    return this.#accounts.want(server, scope);
  }
}

/** @throws PorticoError `account_required` if the caller needs an account and has none that works */
export function refuseWithout({ needsAccount, account }: Server): void {
  if (!needsAccount) return;
  throw new PorticoError('account_required', account?.ended ? toEndText(account.ended) : undefined);
}

/** Gives the holder of an upstream endpoint the newest access token; everything else stays the same. */
export function renew(held: UpstreamEndpoint, fresh: UpstreamEndpoint): void {
  if (held.credentialKey === fresh.credentialKey) Object.assign(held, fresh);
}
