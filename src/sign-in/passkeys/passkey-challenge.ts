/**
 * The challenge for a passkey: sealed into a cookie of the browser that asked for it, for five minutes, so that a person who is not signed
 * in yet causes no row. Its purpose is sealed with it, so that an answer to a sign-in challenge cannot register a passkey. Pure except for
 * the key ring and randomness.
 */
import { z } from 'zod';
import { randomBytes, toBase64Url } from '../../shared/crypto/base64url.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { readCookies, toCookieHeader } from '../sign-in-cookie.ts';

/** Time in which a challenge can be answered, in milliseconds. */
export const CHALLENGE_MS = 300_000;
const MAX_CHARS = 1_000;

/** Signing in, or adding a passkey during a sign-in. */
export type Purpose = 'sign-in' | `add ${string}`;

const ChallengeSchema = z.object({
  challenge: z.string(),
  /** Milliseconds since the epoch. */
  madeAt: z.number(),
});
export type Challenge = z.infer<typeof ChallengeSchema>;

const placeOf = (purpose: Purpose) => `passkey challenge|${purpose}`;

/** Creates a challenge and the value of its cookie. */
export async function makeChallenge(
  keys: Pick<KeyRing, 'seal'>,
  purpose: Purpose,
  now: number,
): Promise<{ challenge: string; sealed: string }> {
  const challenge = toBase64Url(randomBytes(32));
  const made: Challenge = { challenge, madeAt: now };
  return {
    challenge,
    sealed: await keys.seal('sign-in', JSON.stringify(made), placeOf(purpose)),
  };
}

/** Returns the challenge in a cookie; undefined if it is not one of ours, is for another purpose, or has expired. */
export async function openChallenge(
  keys: Pick<KeyRing, 'open'>,
  sealed: string | undefined,
  purpose: Purpose,
  now: number,
): Promise<Challenge | undefined> {
  if (sealed === undefined || sealed.length > MAX_CHARS) return undefined;
  const text = await keys.open('sign-in', sealed, placeOf(purpose));
  const found = text === undefined ? undefined : ChallengeSchema.parse(JSON.parse(text));
  return found && found.madeAt + CHALLENGE_MS > now ? found : undefined;
}

const NAMES = { tls: '__Host-portico-passkey', plain: 'portico-sign-in-passkey' };

/** Returns the value of the request's cookie, or undefined. */
export const readChallengeCookie = (request: Request, url: URL): string | undefined =>
  readCookies(request, url, NAMES)[0];

/** Returns the header that sets the cookie, or deletes it if there is no value. */
export const toChallengeCookie = (url: URL, value = ''): string =>
  toCookieHeader(url, NAMES, value, CHALLENGE_MS);
