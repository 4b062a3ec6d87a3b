/**
 * The access tokens of one server that is reached with client credentials. Lives in the server's monitor, of which the whole deployment has
 * one: every request for a token during a fetch waits for that fetch.
 *
 * A token is fetched when there is none, when four fifths of its lifetime have passed, and after the server refused it. It is stored sealed
 * where the registry's snapshot brings it to every isolate. While fetches fail, the former token is used until it expires. After failures
 * in a row the next fetch is delayed, however many calls request a token.
 */
import { PorticoError, toPorticoError } from '../../shared/errors/portico-error.ts';
import { toRestMs } from '../../shared/util/backoff.ts';
import type { AccessToken, ClientCredentialsAuth } from '../credential-schema.ts';
import { sealEnvelope } from '../../shared/crypto/envelope.ts';
import type {
  AccessTokenRecords,
  AccessTokenReply,
  AccessTokenSource,
  GrantPort,
} from './grant-schema.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import {
  accessTokenPlace,
  OpenedCredentials,
  type CredentialOwner,
  type OpenedCredential,
} from '../opened-credentials.ts';

export interface AccessTokenPorts {
  records: AccessTokenRecords;
  keys: KeyRing;
  grants: GrantPort;
}

/** Part of its lifetime after which a token is replaced. */
const FRESH_PART = 0.8;
/** A token refused before this age counts as invalid from the beginning, in milliseconds. */
const YOUNG_MS = 60_000;
const UNKNOWN = 'No access token could be fetched';

/** Time at which a token should be replaced, in milliseconds since the epoch. */
export function dueAt({ issuedAt, expiresAt }: AccessToken): number {
  return issuedAt + (expiresAt - issuedAt) * FRESH_PART;
}

/** Whether a token can be sent with this credential now. */
export function isUsable(token: AccessToken, credentialKey: string, now: number): boolean {
  return token.sealed !== null && token.credentialKey === credentialKey && now < token.expiresAt;
}

export class AccessTokens implements AccessTokenSource {
  readonly #ports: AccessTokenPorts;
  readonly #credentials: OpenedCredentials;
  #current: AccessToken | undefined;
  #fetching: { key: string; work: Promise<AccessToken> } | undefined;
  #failures = 0;
  #refusals = 0;
  #triedAt = 0;
  #triedKey = '';
  #lastFailure: PorticoError | undefined;

  constructor(ports: AccessTokenPorts) {
    this.#ports = ports;
    this.#credentials = new OpenedCredentials(ports.keys);
  }

  /**
   * Returns a usable token, fetching a new one if it is due.
   * @throws PorticoError `credential_unavailable`
   */
  async of(server: CredentialOwner, { key, grant }: OpenedCredential): Promise<AccessToken> {
    if (!grant) throw unavailable('The server does not use client credentials');
    const now = Date.now();
    const known = this.#newest(server);
    const isKept = known !== undefined && isUsable(known, key, now);
    if (isKept && now < dueAt(known)) return known;
    try {
      return await this.#fetch(server, key, grant, known);
    } catch (error) {
      if (isKept) return known;
      throw error;
    }
  }

  /** The same for a request from another isolate. Failures are values, because an error cannot be thrown across the call. */
  async answer(server: CredentialOwner): Promise<AccessTokenReply> {
    try {
      return { token: await this.of(server, await this.#credentials.of(server)) };
    } catch (thrown) {
      const { code, message } = toPorticoError(thrown);
      return { failure: code === 'credential_unavailable' ? message : UNKNOWN };
    }
  }

  /** The server refused a token: stops sending it, and fetches another one. */
  async refuse(server: CredentialOwner, serial: number): Promise<void> {
    const known = this.#newest(server);
    if (known?.serial !== serial || known.sealed === null) return;
    this.#current = { ...known, sealed: null };
    this.#refusals = Date.now() - known.issuedAt < YOUNG_MS ? this.#refusals + 1 : 0;
    await this.#ports.records.drop(server.id, serial);
    await this.answer(server);
  }

  /** Time at which the current token should be replaced, if that is in the future. */
  get dueAt(): number | undefined {
    const due = this.#current?.sealed ? dueAt(this.#current) : undefined;
    return due !== undefined && due > Date.now() ? due : undefined;
  }

  /** The stored token or the one fetched here, whichever is newer; a refused one stays refused. */
  #newest({ credential }: CredentialOwner): AccessToken | undefined {
    const stored = credential.accessToken ?? undefined;
    if (!this.#current || (stored && stored.serial > this.#current.serial)) this.#current = stored;
    return this.#current;
  }

  /** Wait before the next fetch after failures, or after a second new token in a row was refused. */
  get #gapMs(): number {
    return toRestMs(this.#failures + Math.max(0, this.#refusals - 1));
  }

  /** Runs one fetch at a time per credential; concurrent requests share it. */
  #fetch(
    server: CredentialOwner,
    key: string,
    auth: ClientCredentialsAuth,
    known: AccessToken | undefined,
  ): Promise<AccessToken> {
    if (this.#fetching?.key === key) return this.#fetching.work;
    if (key === this.#triedKey && Date.now() - this.#triedAt < this.#gapMs) {
      throw this.#lastFailure ?? unavailable('The server refused the access token');
    }
    this.#triedKey = key;
    this.#triedAt = Date.now();
    const work = this.#fetchOnce(server, key, auth, known).finally(() => {
      if (this.#fetching?.work === work) this.#fetching = undefined;
    });
    this.#fetching = { key, work };
    return work;
  }

  async #fetchOnce(
    server: CredentialOwner,
    key: string,
    auth: ClientCredentialsAuth,
    known: AccessToken | undefined,
  ): Promise<AccessToken> {
    try {
      const token = await this.#grant(server, key, auth, known);
      this.#failures = 0;
      if (known?.sealed) this.#refusals = 0;
      this.#lastFailure = undefined;
      this.#current = token;
      const { revision } = server.credential;
      await this.#ports.records.keep(server.id, revision, token);
      return token;
    } catch (thrown) {
      const { code, message } = toPorticoError(thrown);
      this.#failures += 1;
      this.#lastFailure =
        code === 'credential_unavailable' ? unavailable(message) : unavailable(UNKNOWN);
      throw this.#lastFailure;
    }
  }

  async #grant(
    server: CredentialOwner,
    key: string,
    auth: ClientCredentialsAuth,
    known: AccessToken | undefined,
  ): Promise<AccessToken> {
    const { grants, keys } = this.#ports;
    const endpoint = await grants.find(server.url, auth.token_url);
    const isSameServer = known?.credentialKey.split(' ')[0] === key.split(' ')[0];
    if (isSameServer && known?.tokenOrigin !== endpoint.origin) {
      throw unavailable('The server names another authorization server than before');
    }
    const [clientId = '', clientSecret = ''] = await this.#credentials.fillFor(
      server,
      [auth.client_id, auth.client_secret],
      endpoint.origin,
    );
    const { resource = endpoint.resource, scope, audience } = auth;
    const parameters = { resource, ...(scope && { scope }), ...(audience && { audience }) };
    const granted = await grants.request(endpoint, { clientId, clientSecret, parameters });
    const issuedAt = Date.now();
    return {
      sealed: await sealEnvelope(keys, granted.token, accessTokenPlace(server)),
      serial: Math.max(issuedAt, (known?.serial ?? 0) + 1),
      credentialKey: key,
      tokenOrigin: endpoint.origin,
      issuedAt,
      expiresAt: issuedAt + granted.lifetimeMs,
    };
  }
}

const unavailable = (detail: string) => new PorticoError('credential_unavailable', detail);
