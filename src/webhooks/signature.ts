/**
 * Signs messages, so that a receiver can verify their origin and age.
 *
 * Source: Standard Webhooks 1.0, "Symmetric": `v1,` and the base64 of HMAC-SHA256 over `{id}.{timestamp}.{body}`; secrets of 24 to 64 bytes
 * as `whsec_` and base64.
 */
import { randomBytes } from '../shared/crypto/base64url.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));

/** Generates a secret. */
export const createSecret = (): string => `${PREFIX}${toBase64(randomBytes(SECRET_BYTES))}`;

async function sign(secret: string, text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(secret.slice(PREFIX.length)), char => char.charCodeAt(0));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text));
  return `v1,${toBase64(new Uint8Array(signature))}`;
}

/**
 * Returns the headers that identify and sign a message.
 * @param secrets each one signs; during a rotation both are valid
 * @param now milliseconds since the epoch
 */
export async function toSignedHeaders(
  secrets: readonly string[],
  id: string,
  body: string,
  now: number,
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1000));
  const text = `${id}.${timestamp}.${body}`;
  const signatures = await Promise.all(secrets.map(secret => sign(secret, text)));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
