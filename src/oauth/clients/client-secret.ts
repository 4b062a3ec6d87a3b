/** Ids and secrets of clients; a secret is made here, shown once, and kept as an HMAC. */
import { randomBytes, toBase64Url } from '../../shared/crypto/base64url.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';

const MAX_CHARS = 200;

/** The id of a client that is given one. */
export const createClientId = (): string => `client_${toBase64Url(randomBytes(16))}`;

/** A new secret and what is stored of it. */
export async function createClientSecret(
  keys: KeyRing,
): Promise<{ value: string; secretHmac: string; keyId: string }> {
  const value = `portico_secret_${toBase64Url(randomBytes(32))}`;
  const [secretHmac = ''] = await toSecretHmacs(keys, value);
  return { value, secretHmac, keyId: keys.active };
}

/** The HMACs that a secret may be stored as, that of the active key first; none of a text that cannot be one. */
export async function toSecretHmacs(keys: KeyRing, secret: string): Promise<string[]> {
  return secret.length > MAX_CHARS ? [] : keys.hmacs('oauth', `client:${secret}`);
}
