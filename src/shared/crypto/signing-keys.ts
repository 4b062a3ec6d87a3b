/**
 * Keys by which others sign: picks the public parts of fitting keys from their JWK set (RFC 7517), and verifies a
 * signature. Keys that are weak, symmetric or meant for something else are not used.
 */
import { z } from 'zod';
import { tryJson } from '../json/json-spans.ts';

/** `EdDSA` and `Ed25519` are the same algorithm (RFC 9864). */
export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

const RSA = { kty: 'RSA', crv: undefined, members: ['n', 'e'] } as const;
const ED25519 = {
  kty: 'OKP',
  crv: 'Ed25519',
  members: ['crv', 'x'],
  imported: { name: 'Ed25519' },
} as const;
const KINDS = {
  RS256: { ...RSA, imported: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } },
  PS256: { ...RSA, imported: { name: 'RSA-PSS', hash: 'SHA-256' } },
  ES256: {
    kty: 'EC',
    crv: 'P-256',
    members: ['crv', 'x', 'y'],
    imported: { name: 'ECDSA', namedCurve: 'P-256' },
  },
  EdDSA: ED25519,
  Ed25519: ED25519,
} as const;
/** 2,048 to 8,192 bits, in base64url. */
const MODULUS_CHARS = { min: 342, max: 1_366 };
const MAX_EXPONENT_CHARS = 6;
const MAX_KEYS = 20;
/** Most keys that are tried for one signature; several may fit if it names none. */
const MAX_TRIED = 5;

const text = z.string().optional();
const KeySchema = z.looseObject({
  kty: text,
  crv: text,
  kid: text,
  use: text,
  alg: text,
  n: text,
  e: text,
  x: text,
  y: text,
});
export type SigningKey = z.infer<typeof KeySchema>;
const KeySetSchema = z.looseObject({ keys: z.array(z.unknown()).max(MAX_KEYS) });

/** Returns the keys of a set without those that cannot be read; undefined if the text is not a key set. */
export function parseKeys(json: string): SigningKey[] | undefined {
  const set = KeySetSchema.safeParse(tryJson(json));
  return set.data?.keys.flatMap(key => {
    const parsed = KeySchema.safeParse(key);
    return parsed.success ? [parsed.data] : [];
  });
}

/** Returns the keys that may have made a signature. @param kid as the signature names it */
export function keysFor(
  keys: readonly SigningKey[],
  alg: Algorithm,
  kid: string | undefined,
): SigningKey[] {
  const { kty, crv } = KINDS[alg];
  const fitting = keys.filter(
    key =>
      key.kty === kty &&
      key.crv === crv &&
      (kid === undefined || key.kid === kid) &&
      (key.use ?? 'sig') === 'sig' &&
      isForAlgorithm(key, alg) &&
      (kty !== 'RSA' || isStrong(key)),
  );
  return fitting.slice(0, MAX_TRIED);
}

const isForAlgorithm = ({ alg: own }: SigningKey, alg: Algorithm): boolean =>
  own === undefined || ALGORITHMS.some(each => each === own && KINDS[each] === KINDS[alg]);

const isStrong = ({ n = '', e = '' }: SigningKey): boolean =>
  n.length >= MODULUS_CHARS.min && n.length <= MODULUS_CHARS.max && e.length <= MAX_EXPONENT_CHARS;

/** Whether a key made the signature of a text. */
export async function isSignedBy(
  key: SigningKey,
  alg: Algorithm,
  signed: string,
  signature: Uint8Array,
): Promise<boolean> {
  const { kty, members, imported } = KINDS[alg];
  const parts = Object.fromEntries(members.map(member => [member, key[member]]));
  try {
    const made = await crypto.subtle.importKey(
      'jwk',
      { kty, ...parts } as { kty: string },
      imported,
      false,
      ['verify'],
    );
    // A signature is as long as its modulus (RFC 8017 §8.1.2); OpenSSL also accepts one without its leading zeros.
    const { modulusLength } = made.algorithm as { modulusLength?: number };
    if (modulusLength !== undefined && signature.length !== Math.ceil(modulusLength / 8))
      return false;
    const how = { ...imported, hash: 'SHA-256', saltLength: 32 };
    return await crypto.subtle.verify(how, made, signature, new TextEncoder().encode(signed));
  } catch {
    return false;
  }
}
