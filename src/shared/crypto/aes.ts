/**
 * AES-256-GCM over texts: `base64url(iv ‖ ciphertext)`, with a random 96-bit IV and additional data that must be the
 * same on opening. A mismatch yields undefined, never a reason.
 */
import { fromBase64Url, randomBytes, toBase64Url } from './base64url.ts';

/** The runtime's key type, by a name that Node and Workers share. */
export type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

export const IV_BYTES = 12;
const encode = (text: string) => new TextEncoder().encode(text);

/** Imports a key of 32 bytes that can seal and open and cannot be exported. */
export function importAesKey(bytes: Uint8Array): Promise<Key> {
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

/** Seals a text. @param iv must never be used with another text or `aad` under the same key; default: random */
export async function aesSeal(
  key: Key,
  plain: string,
  aad: string,
  iv: Uint8Array = randomBytes(IV_BYTES),
): Promise<string> {
  const algorithm = { name: 'AES-GCM', iv, additionalData: encode(aad) };
  const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm, key, encode(plain)));
  const bytes = new Uint8Array(IV_BYTES + sealed.length);
  bytes.set(iv);
  bytes.set(sealed, IV_BYTES);
  return toBase64Url(bytes);
}

/** Returns the text, or undefined if key, sealed text or additional data do not match. */
export async function aesOpen(key: Key, sealed: string, aad: string): Promise<string | undefined> {
  const bytes = fromBase64Url(sealed);
  if (!bytes || bytes.length <= IV_BYTES) return undefined;
  const iv = bytes.subarray(0, IV_BYTES);
  const algorithm = { name: 'AES-GCM', iv, additionalData: encode(aad) };
  try {
    const plain = await crypto.subtle.decrypt(algorithm, key, bytes.subarray(IV_BYTES));
    return new TextDecoder().decode(plain);
  } catch {
    return undefined;
  }
}
