/**
 * The code that a person reads on one machine and types on another (RFC 8628 §6.1): eight consonants, so that it spells no word and no
 * letter looks like a digit. There are 20^8 codes, 34.6 bits. Pure except for the random bytes.
 */
import { randomBytes } from '../../shared/crypto/base64url.ts';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
/** The largest multiple of 20 in a byte. Larger bytes are dropped, so that all letters are equally likely. */
const FAIR = 240;
const CODE = /^[B-DF-HJ-NP-TV-XZ]{8}$/;
/** Longest input that is parsed, in characters. */
const MAX_CHARS = 40;

/** Creates a code: `XXXX-XXXX`. */
export function createUserCode(): string {
  let code = '';
  while (code.length < LENGTH) {
    const fair = [...randomBytes(LENGTH)].filter(byte => byte < FAIR);
    code += fair.map(byte => LETTERS[byte % LETTERS.length]).join('');
  }
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2, LENGTH)}`;
}

/** Parses a typed code in any notation; undefined if it is not a code. */
export function parseUserCode(text: string): string | undefined {
  if (text.length > MAX_CHARS) return undefined;
  const letters = text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  if (!CODE.test(letters)) return undefined;
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`;
}

/** Returns the text whose HMAC is stored for a code. */
export const toKeptUserCode = (code: string): string => `user_code:${code}`;
