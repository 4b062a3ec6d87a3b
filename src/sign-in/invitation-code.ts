/** The code of an invitation: 256 random bits in 43 characters of base64url, so that it looks like no token. */
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { randomBytes, toBase64Url } from '../shared/crypto/base64url.ts';

const FORM = /^[A-Za-z0-9_-]{43}$/;

/** A new code. */
export const createInvitationCode = (): string => toBase64Url(randomBytes(32));

/** Whether a text has the form of a code at all; anything else never reaches a database. */
export const isInvitationForm = (text: string): boolean => FORM.test(text);

/** HMACs of a code under each key of the ring, the active one first; never those of a cookie. */
export const toInvitationHmacs = (keys: Pick<KeyRing, 'hmacs'>, code: string): Promise<string[]> =>
  keys.hmacs('sign-in', `invitation ${code}`);
