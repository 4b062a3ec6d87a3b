/** Ids and secrets of clients. A secret is created here, shown once, and stored as an HMAC. */
import { randomBytes, toBase64Url } from '../../shared/crypto/base64url.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';

const MAX_CHARS = 200;

/** Creates a client id. */
export const createClientId = (): string => `client_${toBase64Url(randomBytes(16))}`;

/** Creates a secret and returns it with the HMAC that is stored. */
export async function createClientSecret(
  keys: KeyRing,
): Promise<{ value: string; secretHmac: string; keyId: string }> {
  const value = `portico_secret_${toBase64Url(randomBytes(32))}`;
  const [secretHmac = ''] = await toSecretHmacs(keys, value);
  return { value, secretHmac, keyId: keys.active };
}

/** Returns the HMACs under which a secret may be stored, that of the active key first; none for a text too long to be a secret. */
export async function toSecretHmacs(keys: KeyRing, secret: string): Promise<string[]> {
  return secret.length > MAX_CHARS ? [] : keys.hmacs('oauth', `client:${secret}`);
}
