/**
 * A sign-in that waits for its provider: what the answer is checked against, sealed into a cookie of the browser that began it. Nobody
 * who is nobody yet gets a row. Pure but for the key ring and the dice.
 */
import { z } from 'zod';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { readCookies, toCookieHeader } from '../sign-in-cookie.ts';

/** How long it may take, in milliseconds. */
const PENDING_MS = 600_000;
/** Most characters of a cookie that every browser keeps. */
const MAX_CHARS = 3_900;
const PLACE = 'pending sign-in';

const PendingSchema = z.object({
  /** Id of the provider. */
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  /** Of PKCE. */
  verifier: z.string(),
  /** Where the provider answers to. */
  redirectUri: z.string(),
  /** Where one goes on to. */
  returnPath: z.string().optional(),
  /** Milliseconds since the epoch. */
  until: z.number(),
});
export type Pending = z.infer<typeof PendingSchema>;

/** When one that begins now ends, in milliseconds since the epoch. */
export const pendingUntil = (now: number): number => now + PENDING_MS;

/** The value of the cookie, or undefined where it would be too long. */
export async function sealPending(keys: KeyRing, pending: Pending): Promise<string | undefined> {
  const sealed = await keys.seal('sign-in', JSON.stringify(pending), PLACE);
  return sealed.length > MAX_CHARS ? undefined : sealed;
}

/** What a cookie says, or undefined where it is none of ours or its time is over. */
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

/** The value of the cookie of a request, or undefined. */
export const readPendingCookie = (request: Request, url: URL): string | undefined =>
  readCookies(request, url, NAMES)[0];

/** The header that sets the cookie, or takes it back where there is no value. */
export const toPendingCookie = (url: URL, value = ''): string =>
  toCookieHeader(url, NAMES, value, PENDING_MS);
