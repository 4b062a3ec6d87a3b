/**
 * A sign-in that waits for its provider: what the response is checked against, sealed into a cookie of the browser that began it. So a
 * person who is not signed in yet causes no row. Pure except for the key ring and randomness.
 */
import { z } from 'zod';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { readCookies, toCookieHeader } from '../sign-in-cookie.ts';

/** Time limit for the sign-in, in milliseconds. */
const PENDING_MS = 600_000;
/** Maximum length of a cookie that every browser keeps, in characters. */
const MAX_CHARS = 3_900;
const PLACE = 'pending sign-in';

const PendingSchema = z.object({
  /** Id of the provider. */
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  /** PKCE verifier. */
  verifier: z.string(),
  /** Where the provider sends the browser back to. */
  redirectUri: z.string(),
  /** The page to continue to. */
  returnPath: z.string().optional(),
  /** Milliseconds since the epoch. */
  until: z.number(),
});
export type Pending = z.infer<typeof PendingSchema>;

/** Returns when a sign-in that begins now expires, in milliseconds since the epoch. */
export const pendingUntil = (now: number): number => now + PENDING_MS;

/** Returns the value of the cookie, or undefined if it would be too long. */
export async function sealPending(keys: KeyRing, pending: Pending): Promise<string | undefined> {
  const sealed = await keys.seal('sign-in', JSON.stringify(pending), PLACE);
  return sealed.length > MAX_CHARS ? undefined : sealed;
}

/** Returns the content of a cookie, or undefined if it is not one of ours or has expired. */
export async function openPending(
  keys: KeyRing,
  sealed: string,
  now: number,
): Promise<Pending | undefined> {
  const text = await keys.open('sign-in', sealed, PLACE);
  const pending = text === undefined ? undefined : PendingSchema.parse(JSON.parse(text));
  return pending && pending.until > now ? pending : undefined;
}

const NAMES = { tls: '__Host-portico-pending', plain: 'portico-sign-in-pending' };

/** Returns the value of the request's cookie, or undefined. */
export const readPendingCookie = (request: Request, url: URL): string | undefined =>
  readCookies(request, url, NAMES)[0];

/** Returns the header that sets the cookie, or deletes it if there is no value. */
export const toPendingCookie = (url: URL, value = ''): string =>
  toCookieHeader(url, NAMES, value, PENDING_MS);
