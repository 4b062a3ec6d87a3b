/** Sign-in through a provider: the redirect to it and the return. Between the two, the browser keeps the pending state in a cookie. */
import * as oauth from 'oauth4webapi';
import { secretPlace } from '../../credentials/secret-schema.ts';
import { findSecrets } from '../../credentials/secret-store.ts';
import { findRecord } from '../../records/record-store.ts';
import { openEnvelope } from '../../shared/crypto/envelope.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { GITHUB_ORIGIN, readGithubAnswer, toGithubUrl } from '../github/github-client.ts';
import type { Proven } from '../identities/claims.ts';
import { signInProven, type IdentityPorts } from '../identities/identity-sign-ins.ts';
import { refused } from '../make-sign-in.ts';
import { readAnswer, toAuthorizationUrl } from '../oidc/oidc-client.ts';
import { openPending, pendingUntil, sealPending, type Pending } from '../oidc/pending.ts';
import { isCookieSafe } from '../sign-in-cookie.ts';
import type { Provider } from './providers-schema.ts';
import { listProviders, PROVIDERS } from './providers-store.ts';

export interface ProviderSignInPorts extends IdentityPorts {
  allowsLoopback: boolean;
}

/** Path on this gateway to which providers send the browser back. */
export const CALLBACK_PATH = '/sign-in/callback';

export class ProviderSignIns {
  readonly #ports: ProviderSignInPorts;

  constructor(ports: ProviderSignInPorts) {
    this.#ports = ports;
  }

  /** Lists the providers that a person can sign in with, by name. */
  async list(): Promise<Pick<Provider, 'id' | 'name'>[]> {
    return listProviders(this.#ports.db, 'others');
  }

  /**
   * Begins a sign-in.
   * @returns where the browser goes, and the pending state it keeps until it returns
   * @throws PorticoError `not_found`, `credential_unavailable`, `forbidden`
   */
  async begin(
    id: string,
    { origin }: URL,
    returnPath: string | undefined,
  ): Promise<{ location: URL; pending: string }> {
    const provider = await this.#find(id);
    const pending: Pending = {
      provider: provider.id,
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
      redirectUri: `${origin}${CALLBACK_PATH}`,
      ...(returnPath === undefined ? {} : { returnPath }),
      until: pendingUntil(Date.now()),
    };
    const sealed = await sealPending(this.#ports.keys, pending);
    if (sealed === undefined)
      throw refused('The address to return to after the sign-in is too long');
    const location =
      provider.kind === 'github'
        ? await toGithubUrl(provider, pending)
        : await toAuthorizationUrl(this.#oidc(), provider, pending);
    return { location, pending: sealed };
  }

  /**
   * Signs in the person that the provider names in its response.
   * @param url that the browser returned to
   * @param sealed the browser's pending cookie
   * @throws PorticoError `forbidden`, `credential_unavailable`
   */
  async finish(
    url: URL,
    sealed: string | undefined,
  ): Promise<{ value: string; returnPath: string | undefined }> {
    if (!isCookieSafe(url)) throw refused('Signing in needs https');
    const pending = sealed && (await openPending(this.#ports.keys, sealed, Date.now()));
    if (!pending) throw refused('This sign-in was not started here, or took too long; start again');
    const provider = await this.#find(pending.provider);
    const proven = await this.#prove(provider, url, pending);
    const value = await signInProven(this.#ports, provider, proven);
    return { value, returnPath: pending.returnPath };
  }

  async #find(id: string): Promise<Provider> {
    const provider = await findRecord(this.#ports.db, PROVIDERS, id);
    if (!provider || provider.kind === 'access')
      throw new PorticoError('not_found', 'No such provider');
    return provider;
  }

  async #prove(provider: Provider, url: URL, pending: Pending): Promise<Proven> {
    if (provider.kind !== 'github') return readAnswer(this.#oidc(), provider, url, pending);
    const secret = await this.#secretOf(provider, GITHUB_ORIGIN);
    return readGithubAnswer(provider, secret ?? '', url, pending);
  }

  #oidc() {
    const { allowsLoopback } = this.#ports;
    return {
      allowsLoopback,
      secretOf: (provider: Provider, origin: string) => this.#secretOf(provider, origin),
    };
  }

  async #secretOf(
    { name, client_secret: secretName }: Provider,
    origin: string,
  ): Promise<string | undefined> {
    if (secretName === null) return undefined;
    const { db, keys } = this.#ports;
    const [secret] = await findSecrets(db, [secretName]);
    const isSendable = secret?.origins.includes(origin) === true;
    const value = isSendable
      ? await openEnvelope(keys, secret.sealed, secretPlace(secret))
      : undefined;
    if (value !== undefined) return value;
    throw refused(`The secret of ${name} is missing, or may not be sent to it`);
  }
}
