/**
 * Opens the credentials of servers. The opened credential is remembered with its record, and each secret by its place and sealed text, so
 * that a warm call does no cryptography and a change takes effect with the new record.
 *
 * Fails closed: if a secret is missing, does not open or may not be sent to that origin, the request is stopped before it is sent, and the
 * error contains neither the secret's name nor its value.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { Lru } from '../shared/util/lru.ts';
import type {
  AccessToken,
  Auth,
  AuthorizationCodeAuth,
  ClientCredentialsAuth,
  Credential,
  Headers,
} from './credential-schema.ts';
import { openEnvelope, type Place } from '../shared/crypto/envelope.ts';
import { hiddenInClient, hiddenInHeaders } from './hidden-parts.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { fillReferences, namesIn } from './references.ts';
import { openAuth, openHeaders, type Owner } from './sealed-credential.ts';
import { secretPlace, type SealedSecret } from './secret-schema.ts';

/** A credential with its references replaced by values. Must never be logged or returned in a response. */
export interface OpenedCredential {
  /** By name in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Changes when an administrator changes the credential or a secret it refers to. */
  key: string;
  /** Values to redact. */
  hidden: readonly string[];
  /** What an access token is fetched with, if the server needs one; its references are not replaced yet. */
  grant?: ClientCredentialsAuth;
  /** The client with which people connect their own accounts; its references are not replaced yet. */
  client?: AuthorizationCodeAuth;
}

/** The fields of a registry record that are needed here. */
export interface CredentialOwner extends Owner {
  credential: Credential;
}

const MAX_OPENED = 5_000;

export class OpenedCredentials {
  readonly #keys: KeyRing;
  readonly #ofRecord = new WeakMap<CredentialOwner, OpenedCredential>();
  readonly #values = new Lru<string, string>(MAX_OPENED);
  readonly #parts = new Lru<string, Headers | Auth>(MAX_OPENED);

  constructor(keys: KeyRing) {
    this.#keys = keys;
  }

  /** @throws PorticoError `credential_unavailable` */
  async of(owner: CredentialOwner): Promise<OpenedCredential> {
    const known = this.#ofRecord.get(owner);
    if (known) return known;
    const opened = await this.#open(owner);
    this.#ofRecord.set(owner, opened);
    return opened;
  }

  async #open(owner: CredentialOwner): Promise<OpenedCredential> {
    const { credential, url } = owner;
    const { headersSealed, authSealed } = credential;
    const { origin } = new URL(url);
    const given =
      headersSealed === null ? {} : await this.#part(owner, 'headers', headersSealed, openHeaders);
    const auth = authSealed === null ? null : await this.#part(owner, 'auth', authSealed, openAuth);
    const values = new Map<string, string>();
    const fill = (text: string) => this.#fill(text, credential.secrets, origin, values);
    const headers: Record<string, string> = {};
    for (const [name, text] of Object.entries(given)) {
      headers[name.toLowerCase()] = await fill(text);
    }
    if (auth?.type === 'bearer') headers['authorization'] = `Bearer ${await fill(auth.token)}`;
    const key = credentialKey(owner);
    const hidden = [...values.values(), ...hiddenInHeaders(headers)];
    if (auth?.type === 'authorization_code') return { headers, key, hidden, client: auth };
    if (auth?.type !== 'client_credentials') return { headers, key, hidden };
    hidden.push(...(await this.#hiddenInGrant(auth, credential.secrets)));
    return { headers, key, hidden, grant: auth };
  }

  /**
   * Lists the values of the grant to redact. They are not sent to the MCP server, but it may know them anyway. Values that do not open are
   * skipped.
   */
  async #hiddenInGrant(
    { client_id, client_secret }: ClientCredentialsAuth,
    secrets: readonly SealedSecret[],
  ): Promise<string[]> {
    const values = new Map<string, string>();
    for (const secret of secrets) {
      const isUsed = [client_id, client_secret].some(text => namesIn(text)?.includes(secret.name));
      const value = isUsed ? await this.#value(secret.sealed, secretPlace(secret)) : undefined;
      if (value !== undefined) values.set(secret.name, value);
    }
    const [id, secret] = [client_id, client_secret].map(text =>
      fillReferences(text, name => values.get(name)),
    );
    const sent = id === undefined || secret === undefined ? [] : hiddenInClient(id, secret);
    return [...values.values(), ...sent];
  }

  /**
   * Fills texts of a credential that are sent to a party other than the server.
   * @param origin where they are sent
   * @throws PorticoError `credential_unavailable`
   */
  fillFor(
    { credential }: CredentialOwner,
    texts: readonly string[],
    origin: string,
  ): Promise<string[]> {
    const values = new Map<string, string>();
    return Promise.all(texts.map(text => this.#fill(text, credential.secrets, origin, values)));
  }

  /** @throws PorticoError `credential_unavailable` */
  async openToken({ id, url }: CredentialOwner, { sealed }: AccessToken): Promise<string> {
    const token = sealed && (await this.#value(sealed, accessTokenPlace({ id, url })));
    if (!token) throw unavailable('The access token cannot be opened');
    return token;
  }

  async #part<T extends Headers | Auth>(
    { id, url, account }: CredentialOwner,
    field: string,
    sealed: string,
    open: (keys: KeyRing, owner: Owner, sealed: string) => Promise<T | undefined>,
  ): Promise<T> {
    const key = `${field} ${account?.id ?? id} ${new URL(url).origin} ${sealed}`;
    const known = this.#parts.get(key) as T | undefined;
    if (known) return known;
    const part = await open(this.#keys, { id, url, account }, sealed);
    if (part === undefined) throw unavailable('The stored credential cannot be opened');
    this.#parts.set(key, part);
    return part;
  }

  /** Fills in a text's secrets, each of which must be allowed at `origin`; adds the used values to `values`. */
  async #fill(
    text: string,
    secrets: readonly SealedSecret[],
    origin: string,
    values: Map<string, string>,
  ): Promise<string> {
    const names = namesIn(text) ?? [];
    for (const secret of secrets) {
      if (values.has(secret.name) || !names.includes(secret.name)) continue;
      if (!secret.origins.includes(origin)) {
        throw unavailable('A secret it refers to may not be sent there');
      }
      values.set(secret.name, await this.#secret(secret));
    }
    const filled = fillReferences(text, name => values.get(name));
    if (filled === undefined) throw unavailable('A secret it refers to is missing');
    return filled;
  }

  async #secret(secret: SealedSecret): Promise<string> {
    const value = await this.#value(secret.sealed, secretPlace(secret));
    if (value === undefined) throw unavailable('A secret it refers to cannot be opened');
    return value;
  }

  async #value(sealed: string, place: Place): Promise<string | undefined> {
    const key = `${place.kind} ${place.id} ${place.origin} ${sealed}`;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = await openEnvelope(this.#keys, sealed, place);
    if (value !== undefined) this.#values.set(key, value);
    return value;
  }
}

/** The place to which an access token is bound. */
export function accessTokenPlace({ id, url }: Owner): Place {
  return { kind: 'access_token', id, field: 'token', origin: new URL(url).origin };
}

/** Identifies a credential as it is configured now, without revealing its values. */
function credentialKey({ account, credential }: CredentialOwner): string {
  const { revision, secrets } = credential;
  return [
    ...(account === undefined ? [] : [account.id]),
    revision,
    ...secrets.map(({ name, revision: of }) => `${name}@${of}`),
  ].join(' ');
}

const unavailable = (detail: string) => new PorticoError('credential_unavailable', detail);
