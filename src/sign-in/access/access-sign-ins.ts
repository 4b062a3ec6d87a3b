/**
 * Sign-in through Cloudflare Access in front of the gateway. Its header counts only if a provider of that kind is set up, and it is always
 * verified: on a host that Access does not protect, anybody can send any header.
 */
import { createGuardedFetch } from '../../http/guarded-fetch.ts';
import { isSignedByOne, parseJwt } from '../../shared/crypto/jwt.ts';
import { KeySets, type ReadKeys } from '../../shared/crypto/key-sets.ts';
import { parseKeys } from '../../shared/crypto/signing-keys.ts';
import { Lru } from '../../shared/util/lru.ts';
import { signInProven, type IdentityPorts } from '../identities/identity-sign-ins.ts';
import { refused } from '../make-sign-in.ts';
import { listProviders } from '../providers/providers-store.ts';
import { isCookieSafe } from '../sign-in-cookie.ts';
import { readAccessClaims } from './access-claims.ts';

export interface AccessPorts extends IdentityPorts {
  allowsLoopback: boolean;
}

const HEADER = 'cf-access-jwt-assertion';
const MAX_CHARS = 16_384;
const MAX_BYTES = 65_536;
const READ_MS = 5_000;
const MAX_TEAMS = 20;
/** Keys are read again after this time, in milliseconds. */
const FRESH_MS = 3_600_000;
/** A failed read is not repeated for this time, in milliseconds: anybody can send a header that causes one. */
const FAILURE_MS = 10_000;

const INVALID = 'Cloudflare Access did not say who you are; sign in there again';

export class AccessSignIns {
  readonly #ports: AccessPorts;
  readonly #keys = new KeySets(MAX_TEAMS, () => Date.now());
  readonly #failures = new Lru<string, { error: unknown; until: number }>(MAX_TEAMS);

  constructor(ports: AccessPorts) {
    this.#ports = ports;
  }

  /**
   * Signs in the person that Access let through.
   * @returns the value of the cookie; undefined if the request did not come through Access, or no such provider is set up
   * @throws PorticoError `forbidden`, `credential_unavailable`
   */
  async by({ headers }: Request, url: URL): Promise<string | undefined> {
    const assertion = headers.get(HEADER);
    if (assertion === null || !isCookieSafe(url)) return undefined;
    const providers = await listProviders(this.#ports.db, 'access');
    if (providers.length === 0) return undefined;
    const jwt = parseJwt(assertion, MAX_CHARS);
    const provider = providers.find(({ issuer }) => issuer === jwt?.claims['iss']);
    if (!jwt || !provider || jwt.header.alg !== 'RS256') throw refused(INVALID);
    const proven = readAccessClaims(jwt.claims, provider, Date.now());
    if (!proven) throw refused(INVALID);
    const { issuer } = provider;
    const keys = await this.#keys.find(issuer, jwt.header, () => this.#read(issuer));
    if (!(await isSignedByOne(jwt, keys))) throw refused(INVALID);
    return signInProven(this.#ports, provider, proven);
  }

  async #read(issuer: string): Promise<ReadKeys> {
    const failure = this.#failures.get(issuer);
    if (failure && failure.until > Date.now()) throw failure.error;
    try {
      return await this.#fetch(issuer);
    } catch (error) {
      this.#failures.set(issuer, { error, until: Date.now() + FAILURE_MS });
      throw error;
    }
  }

  async #fetch(issuer: string): Promise<ReadKeys> {
    const signal = AbortSignal.timeout(READ_MS);
    const fetch = createGuardedFetch(this.#ports.allowsLoopback, signal, MAX_BYTES);
    const response = await fetch(`${issuer.replace(/\/$/, '')}/cdn-cgi/access/certs`);
    const keys = response.status === 200 ? parseKeys(await response.text()) : undefined;
    if (!keys) throw refused('The keys of Cloudflare Access cannot be fetched; try later');
    return { keys, freshUntil: Date.now() + FRESH_MS };
  }
}
