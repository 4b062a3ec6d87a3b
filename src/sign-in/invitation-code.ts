/** The code of an invitation: 256 random bits as 43 characters of base64url, so that it does not look like a token. */
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { randomBytes, toBase64Url } from '../shared/crypto/base64url.ts';

const FORM = /^[A-Za-z0-9_-]{43}$/;

/** Creates a code. */
export const createInvitationCode = (): string => toBase64Url(randomBytes(32));

/** Whether a text has the form of a code; nothing else reaches the database. */
export const isInvitationForm = (text: string): boolean => FORM.test(text);

/** Returns HMACs of a code under each key of the key ring, the active one first. They never equal those of a cookie. */
export const toInvitationHmacs = (keys: Pick<KeyRing, 'hmacs'>, code: string): Promise<string[]> =>
  keys.hmacs('sign-in', `invitation ${code}`);
