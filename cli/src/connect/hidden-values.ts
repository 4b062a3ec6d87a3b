/**
 * Removes secrets of a program's configuration from each line that it sends, before anything else reads it: values of variables with secret
 * names, and passwords in addresses. The credential of a server over HTTP is treated alike. Pure.
 */
import { isSecretName } from '../../../src/shared/redaction/secret-patterns.ts';
import { replaceText, type Needle } from '../../../src/shared/redaction/byte-replacer.ts';
import { toNeedles } from '../../../src/upstream/protocol/credential-forms.ts';

/** Endings of secret variable names in addition to `isSecretName`: `OPENAI_KEY`, `DB_PASS`. */
const SECRET_ENDS = new Set(['KEY', 'KEYS', 'PASS', 'PAT', 'AUTH', 'PIN', 'OTP']);
/** Endings of variable names that only say where a secret is, or which one. */
const PLAIN_ENDS = new Set(['URL', 'URI', 'FILE', 'PATH', 'DIR', 'HOST', 'PORT', 'ENDPOINT']);

/** Whether a variable's name says that it holds a secret. */
export function holdsSecret(variable: string): boolean {
  const end = variable.toUpperCase().split('_').at(-1) ?? '';
  if (PLAIN_ENDS.has(end)) return false;
  return SECRET_ENDS.has(end) || isSecretName(variable);
}

/** The values of variables that hold secrets. */
export const hiddenIn = (variables: Readonly<Record<string, string>>): string[] =>
  Object.entries(variables).flatMap(([name, value]) => (holdsSecret(name) ? [value] : []));

/**
 * Passwords in addresses such as `postgres://user:password@host/db`, in any variable or argument. A password that is not percent-encoded
 * may contain `@` or `/`, so the text up to the first and up to the last `@` is taken, as written and decoded.
 */
export function passwordsIn(values: readonly string[]): string[] {
  const words = values.flatMap(value => value.split(/\s+/));
  return [...new Set(words.flatMap(passwordsOf))];
}

function passwordsOf(word: string): string[] {
  const start = word.indexOf('://') + 3;
  const colon = word.indexOf(':', start);
  const first = word.indexOf('@', start);
  if (start < 3 || colon === -1 || first < colon) return [];
  const inAuthority = word.slice(start).search(/[/?#]/);
  const end = inAuthority === -1 ? word.length : start + inAuthority;
  const ats = [first, word.lastIndexOf('@', end), word.lastIndexOf('@')];
  const written = ats.filter(at => at > colon + 1).map(at => word.slice(colon + 1, at));
  return written.flatMap(text => [text, decoded(text)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Removes these values from a program's lines. Short values stay, since they occur in ordinary words. */
export class HiddenValues {
  readonly #needles: readonly Needle[];

  constructor(values: readonly string[]) {
    this.#needles = toNeedles(values.flatMap(value => [value, value.trim()]));
  }

  /** Returns the line itself where it contains none of them. */
  without(line: string): string {
    return this.#needles.length === 0 ? line : replaceText(line, this.#needles);
  }
}
