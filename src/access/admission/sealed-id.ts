/**
 * Session ids: sealed (AES-GCM), so that an id not made here is refused without a look-up and without an object. An id contains what never
 * changes in a session.
 */
import { z } from 'zod';
import { randomBytes, toBase64Url } from '../../shared/crypto/base64url.ts';
import { Lru } from '../../shared/util/lru.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';

export interface SessionFacts {
  /** Row id of the session: 128 random bits. */
  id: string;
  principalId: string;
  protocolVersion: string;
}

const FactsSchema = z.object({
  id: z.string(),
  principalId: z.string(),
  protocolVersion: z.string(),
});
const AAD = 'session-id';
const SEALED_FORM = /^[A-Za-z0-9_-]{1,32}\.[A-Za-z0-9_-]{40,600}$/;

export class SealedIds {
  readonly #keys: KeyRing;
  readonly #opened = new Lru<string, SessionFacts>(20_000);

  constructor(keys: KeyRing) {
    this.#keys = keys;
  }

  /** Creates the facts of a new session and the id to give out for it. */
  async create(principalId: string, protocolVersion: string) {
    const facts = { id: toBase64Url(randomBytes(16)), principalId, protocolVersion };
    return { facts, sealed: await this.#keys.seal('session', JSON.stringify(facts), AAD) };
  }

  /** Returns the facts of an id, or undefined where it was not made here. */
  async open(sealed: string): Promise<SessionFacts | undefined> {
    const known = this.#opened.get(sealed);
    if (known) return known;
    if (!SEALED_FORM.test(sealed)) return undefined;
    const text = await this.#keys.open('session', sealed, AAD);
    if (text === undefined) return undefined;
    const facts = FactsSchema.parse(JSON.parse(text));
    this.#opened.set(sealed, facts);
    return facts;
  }
}
