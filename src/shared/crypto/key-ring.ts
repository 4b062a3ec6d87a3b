/**
 * The key ring: one Worker secret `{active, keys}` with 32-byte keys, from which every other key is derived by purpose
 * (HKDF-SHA-256). Nothing here stores or logs a key. An unknown key id yields undefined, never another key.
 */
import { z } from 'zod';
import { toBase64Url } from './base64url.ts';
import { aesOpen, aesSeal, IV_BYTES, type Key } from './aes.ts';
import { tryJson } from '../json/json-spans.ts';

/** `credential` sealed servers' headers before envelopes existed. */
export type Purpose =
  | 'token'
  | 'session'
  | 'credential'
  | 'state'
  | 'task'
  | 'envelope'
  | 'audit'
  | 'device'
  | 'cache'
  | 'oauth'
  | 'sign-in'
  | 'learning';

export interface KeyRing {
  /** Id of the key that seals. */
  readonly active: string;
  /** Ids of all keys, the active one first. */
  readonly ids: readonly string[];
  /** HMAC-SHA-256 of a text under each key of the ring, active first, base64url. */
  hmacs(purpose: Purpose, text: string): Promise<string[]>;
  /** HMAC-SHA-256 of a text under the active key: `keyId.base64url`. */
  digest(purpose: Purpose, text: string): Promise<string>;
  /** AES-256-GCM under the active key: `keyId.base64url(iv ‖ ciphertext)`. */
  seal(purpose: Purpose, plain: string, aad: string): Promise<string>;
  /**
   * As `seal`, but equal texts with equal `aad` give equal results: the IV is derived from both by HMAC, so a result
   * reveals that two texts are equal and nothing else.
   */
  sealAlike(purpose: Purpose, plain: string, aad: string): Promise<string>;
  /** The plain text, or undefined if key, text or `aad` do not match. */
  open(purpose: Purpose, sealed: string, aad: string): Promise<string | undefined>;
}

const KeySchema = z.string().regex(/^[A-Za-z0-9+/]{43}=$/);
const RingSchema = z.strictObject({
  active: z.string().regex(/^[A-Za-z0-9_-]{1,32}$/),
  keys: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,32}$/), KeySchema),
});

const encoder = new TextEncoder();
const encode = (text: string) => encoder.encode(text);

/**
 * Parses the ring.
 * @param secret JSON text of `{"active":"k1","keys":{"k1":"<base64 of 32 bytes>"}}`, or one key in base64, which is a
 * ring with one key: k1
 * @throws Error that names what is wrong, without the secret's value
 */
export function createKeyRing(secret: string | undefined): KeyRing {
  const { active, keys } = parseRing(secret);
  const ids = [active, ...Object.keys(keys).filter(id => id !== active)];
  // Keys, not promises: a promise made for one request must not be awaited by another.
  const derived = new Map<string, Key>();

  async function derive(purpose: Purpose, id: string, use: 'hmac' | 'aes'): Promise<Key> {
    const name = `${purpose}/${use}/${id}`;
    const known = derived.get(name);
    if (known) return known;
    const key = await deriveKey(keys[id] ?? '', `portico/${purpose}/${use}`, use);
    derived.set(name, key);
    return key;
  }

  async function hmac(purpose: Purpose, id: string, text: string): Promise<Uint8Array> {
    const key = await derive(purpose, id, 'hmac');
    return new Uint8Array(await crypto.subtle.sign('HMAC', key, encode(text)));
  }

  async function sealWith(purpose: Purpose, plain: string, aad: string, iv?: Uint8Array) {
    const key = await derive(purpose, active, 'aes');
    return `${active}.${await aesSeal(key, plain, `${active}|${aad}`, iv)}`;
  }

  return {
    active,
    ids,

    hmacs: (purpose, text) =>
      Promise.all(ids.map(async id => toBase64Url(await hmac(purpose, id, text)))),

    digest: async (purpose, text) => `${active}.${toBase64Url(await hmac(purpose, active, text))}`,

    seal: (purpose, plain, aad) => sealWith(purpose, plain, aad),

    async sealAlike(purpose, plain, aad) {
      const digest = await hmac(purpose, active, JSON.stringify([aad, plain]));
      return sealWith(purpose, plain, aad, digest.slice(0, IV_BYTES));
    },

    async open(purpose, sealed, aad) {
      const dot = sealed.indexOf('.');
      const id = sealed.slice(0, dot);
      if (dot < 1 || !Object.hasOwn(keys, id)) return undefined;
      return aesOpen(await derive(purpose, id, 'aes'), sealed.slice(dot + 1), `${id}|${aad}`);
    },
  };
}

function parseRing(secret: string | undefined): z.infer<typeof RingSchema> {
  const single = KeySchema.safeParse(secret?.trim());
  if (single.success) return { active: 'k1', keys: { k1: single.data } };
  const json = tryJson(secret ?? '');
  if (json === undefined) {
    throw new Error('PORTICO_KEYS is missing or is not JSON; set it to a key ring');
  }
  const ring = RingSchema.safeParse(json);
  if (!ring.success || !Object.hasOwn(ring.data.keys, ring.data.active)) {
    throw new Error('PORTICO_KEYS must be {"active": id, "keys": {id: base64 of 32 bytes}}');
  }
  return ring.data;
}

async function deriveKey(base64: string, info: string, use: 'hmac' | 'aes'): Promise<Key> {
  const bytes = Uint8Array.from(atob(base64), char => char.charCodeAt(0));
  const base = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey']);
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: encode(info) };
  return use === 'hmac'
    ? crypto.subtle.deriveKey(hkdf, base, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, [
        'sign',
      ])
    : crypto.subtle.deriveKey(hkdf, base, { name: 'AES-GCM', length: 256 }, false, [
        'encrypt',
        'decrypt',
      ]);
}
