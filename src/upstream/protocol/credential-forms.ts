/**
 * The forms in which a server may repeat the credential that it was sent: as it is, as JSON escapes it, in Base64, percent-encoded. Pure. A
 * form that a server makes on purpose to hide the credential cannot be found.
 */
import { toNeedle, type Needle } from '../../shared/redaction/byte-replacer.ts';

export const REDACTED = '[redacted]';
/** Shorter texts are not searched for: they occur in ordinary words. */
export const MIN_SECRET_CHARS = 8;
/** JSON outside of strings: its digits are replaced by digits, so that a number stays one. */
const NUMBER_LIKE = /^[\d\s.,:+\-[\]{}]+$/;
/** Characters that some writers of JSON escape without need: in markup, in Base64. */
const NEEDLESSLY_ESCAPED = /[<>&'+=`]/g;

/** Returns what to search for, and what to write in its place. @param hidden texts of a credential */
export function toNeedles(hidden: readonly string[]): Needle[] {
  const secrets = hidden.filter(text => text.length >= MIN_SECRET_CHARS);
  const forms = new Set(secrets.flatMap(formsOf));
  return Array.from(forms, form => toNeedle(form, replacementOf(form)));
}

function formsOf(text: string): string[] {
  const json = inJson(text);
  const bytes = new TextEncoder().encode(text);
  const base64 = btoa(String.fromCharCode(...bytes));
  const bare = base64.replace(/={1,2}$/, '');
  const percent = encodeURIComponent(text);
  return [
    json,
    // JSON inside a JSON string.
    inJson(json),
    json.replaceAll('/', '\\/'),
    escapedMore(text, code => code.toUpperCase()),
    escapedMore(text, code => code),
    bare,
    bare.replaceAll('+', '-').replaceAll('/', '_'),
    bare.replaceAll('/', '\\/'),
    percent,
    percent.replaceAll(/%[\dA-F]{2}/g, code => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
  ];
}

/** Returns a text as JSON writes it, without the quotes. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The same for writers whose JSON has to be safe in markup. @param toCode the case of hexadecimal digits */
function escapedMore(text: string, toCode: (code: string) => string): string {
  const escape = (character: string) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${toCode(code)}`;
  };
  const quoted = text.replaceAll('\\', '\\\\').replaceAll('"', escape('"'));
  return quoted.replaceAll(NEEDLESSLY_ESCAPED, escape);
}

const replacementOf = (form: string): string =>
  NUMBER_LIKE.test(form) && /\d/.test(form) ? form.replaceAll(/\d/g, '1') : REDACTED;
