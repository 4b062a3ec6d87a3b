/**
 * Keys of identity providers: found through the issuer's metadata (OpenID Connect Discovery 1.0 §4), read within the limits for clients'
 * documents, and cached by the isolate for a while.
 */
import { z } from 'zod';
import { isSignedByOne, type Jwt } from '../../shared/crypto/jwt.ts';
import { KeySets, type ReadKeys } from '../../shared/crypto/key-sets.ts';
import { parseKeys } from '../../shared/crypto/signing-keys.ts';
import { DocumentReader } from '../clients/document-reader.ts';
import { OAuthError } from '../oauth-error.ts';

const MAX_ISSUERS = 20;
const MAX_BYTES = 65_536;
/** Longest time keys are used before they are read again, in milliseconds. */
const MAX_FRESH_MS = 3_600_000;

const DiscoverySchema = z.looseObject({ issuer: z.string(), jwks_uri: z.string() });

export class IssuerKeys {
  readonly #sets: KeySets;
  readonly #reader: DocumentReader;
  readonly #now: () => number;

  constructor(allowsLoopback: boolean, now: () => number) {
    this.#sets = new KeySets(MAX_ISSUERS, now);
    this.#reader = new DocumentReader(allowsLoopback, now);
    this.#now = now;
  }

  /** Whether the issuer signed the JWT. @throws OAuthError `temporarily_unavailable` if its keys cannot be read */
  async haveSigned(issuer: string, jwt: Omit<Jwt, 'claims'>): Promise<boolean> {
    return isSignedByOne(jwt, await this.#sets.find(issuer, jwt.header, () => this.#read(issuer)));
  }

  async #read(issuer: string): Promise<ReadKeys> {
    try {
      const { value: url } = await this.#reader.read({
        url: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
        maxBytes: MAX_BYTES,
        what: 'The metadata of the issuer',
        parse: text => toKeysUrl(text, issuer),
      });
      const { value: keys, freshUntil } = await this.#reader.read({
        url,
        maxBytes: MAX_BYTES,
        what: 'The key set of the issuer',
        parse: toKeys,
      });
      return { keys, freshUntil: Math.min(freshUntil, this.#now() + MAX_FRESH_MS) };
    } catch {
      // A fault at the issuer is not the client's fault: its assertion may be valid.
      throw unavailable();
    }
  }
}

const unavailable = () =>
  new OAuthError(
    'temporarily_unavailable',
    'The keys of the issuer cannot be fetched now; try again',
  );

function toKeysUrl(text: string, issuer: string): string {
  const said = DiscoverySchema.parse(JSON.parse(text));
  if (said.issuer !== issuer) throw unavailable();
  return said.jwks_uri;
}

function toKeys(text: string) {
  const found = parseKeys(text);
  if (!found) throw unavailable();
  return found;
}
