/**
 * The setup code of a new deployment: 256 random bits that make one administrator, once. Only its HMAC is stored, with the code itself as
 * the key, so that a deploy tool can make it without the key ring. Pure; also runs in Node.
 */
import { randomBytes, toBase64Url } from '../../shared/crypto/base64url.ts';

/** How long a code can be redeemed, in milliseconds. */
export const SETUP_CODE_MS = 24 * 3_600_000;

/** Creates a code: 43 characters of base64url. */
export const createSetupCode = (): string => toBase64Url(randomBytes(32));

/** Returns the stored form of a code: HMAC-SHA-256, base64url. Also works for an empty text, which is no valid code. */
export async function toSetupHmac(code: string): Promise<string> {
  const encode = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const raw = encode(`portico-setup:${code}`);
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign']);
  const hmac = await crypto.subtle.sign('HMAC', key, encode('portico/setup'));
  return toBase64Url(new Uint8Array(hmac));
}
