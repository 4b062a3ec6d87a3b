/**
 * The code that somebody reads on one machine and types on another (RFC 8628 §6.1): eight consonants, so that it spells no word and
 * looks like no digit. There are 20^8 of them, 34.6 bits. Pure but for the random bytes.
 */
import { randomBytes } from '../../shared/crypto/base64url.ts';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
/** The largest multiple of 20 that a byte can be below; of others no letter would be as likely as the rest. */
const FAIR = 240;
const CODE = /^[B-DF-HJ-NP-TV-XZ]{8}$/;
/** Longest text that is looked at, in characters. */
const MAX_CHARS = 40;

/** A new code: `XXXX-XXXX`. */
export function createUserCode(): string {
  let code = '';
  while (code.length < LENGTH) {
    const fair = [...randomBytes(LENGTH)].filter(byte => byte < FAIR);
    code += fair.map(byte => LETTERS[byte % LETTERS.length]).join('');
  }
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2, LENGTH)}`;
}

/** What somebody typed as a code, however they wrote it; undefined where it is none. */
export function parseUserCode(text: string): string | undefined {
  if (text.length > MAX_CHARS) return undefined;
  const letters = text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  if (!CODE.test(letters)) return undefined;
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`;
}

/** What is kept of one: the text whose HMAC it is. */
export const toKeptUserCode = (code: string): string => `user_code:${code}`;
