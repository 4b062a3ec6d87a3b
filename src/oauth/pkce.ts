/** PKCE (RFC 7636), S256 only. Pure. */
import { toBase64Url } from '../shared/crypto/base64url.ts';

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Whether a challenge was made from this verifier. */
export async function isVerifierOf(challenge: string, verifier: string): Promise<boolean> {
  if (!VERIFIER.test(verifier)) return false;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return toBase64Url(new Uint8Array(digest)) === challenge;
}
