/**
 * Checks and uses the signed assertion of a client. The keys are read from where the client keeps them, and cached by the isolate for a
 * while.
 */
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { KeySets } from '../../shared/crypto/key-sets.ts';
import { isSignedByOne } from '../../shared/crypto/jwt.ts';
import { keysFor, parseKeys, type SigningKey } from '../../shared/crypto/signing-keys.ts';
import { OAuthError } from '../oauth-error.ts';
import { useAssertion } from './assertion-store.ts';
import { checkClaims, onceKeyOf, refused, type ClientAssertion } from './client-assertion.ts';
import type { ClientWithKeys } from './client-document.ts';
import { isInUse } from './client-store.ts';
import type { DocumentReader } from './document-reader.ts';

export interface AssertionCheckPorts {
  db: D1Database;
  reader: DocumentReader;
  /** Reads the keys of clients in use. */
  readerInUse: DocumentReader;
  now(): number;
}

const MAX_REMEMBERED = 100;
const MAX_BYTES = 65_536;

export class AssertionCheck {
  readonly #ports: AssertionCheckPorts;
  readonly #sets: KeySets;

  constructor(ports: AssertionCheckPorts) {
    this.#ports = ports;
    this.#sets = new KeySets(MAX_REMEMBERED, ports.now);
  }

  /**
   * Checks an assertion and marks it as used.
   * @param clientId the `client_id` sent beside the assertion
   * @throws OAuthError `invalid_client`, `temporarily_unavailable`
   */
  async take(
    client: ClientWithKeys,
    assertion: ClientAssertion,
    clientId: string | undefined,
    issuer: string,
  ): Promise<void> {
    const { db, now } = this.#ports;
    const until = checkClaims(assertion, clientId, issuer, now());
    const keys = await this.#keysOf(client, assertion);
    if (!(await isSignedByOne(assertion, keys)))
      throw refused('has no valid signature of the client');
    const hash = await sha256Hex(onceKeyOf(assertion));
    if (!(await useAssertion(db, hash, until, now()))) throw refused('was used before');
  }

  async #keysOf(client: ClientWithKeys, { header }: ClientAssertion): Promise<SigningKey[]> {
    const { id, jwksUri, jwks } = client;
    if (jwks !== null) return keysFor(parseKeys(jwks) ?? [], header.alg, header.kid);
    if (jwksUri === null) throw refused('cannot be checked: the client has no keys');
    return this.#sets.find(jwksUri, header, async () => {
      const { db, reader, readerInUse } = this.#ports;
      const ofClient = (await isInUse(db, id)) ? readerInUse : reader;
      const { value: keys, freshUntil } = await ofClient.read({
        url: jwksUri,
        maxBytes: MAX_BYTES,
        what: 'The key set of the client',
        parse: toKeys,
      });
      return { keys, freshUntil };
    });
  }
}

function toKeys(text: string): SigningKey[] {
  const found = parseKeys(text);
  if (found) return found;
  throw new OAuthError('invalid_client', 'The key set of the client is not valid');
}
