/**
 * What of a program's configuration nobody behind the gateway is told: values that stand under the name of a secret, and passwords of
 * addresses. They are taken out of each line that the program sends before anything else reads it, as it is done with the credential
 * of a server over HTTP. Pure.
 */
import { isSecretName } from '../../../src/shared/redaction/secret-patterns.ts';
import { replaceText, type Needle } from '../../../src/shared/redaction/byte-replacer.ts';
import { toNeedles } from '../../../src/upstream/protocol/credential-forms.ts';

/** Ends of names that variables of the environment have beside those of `isSecretName`: `OPENAI_KEY`, `DB_PASS`. */
const SECRET_ENDS = new Set(['KEY', 'KEYS', 'PASS', 'PAT', 'AUTH', 'PIN', 'OTP']);
/** Ends of names of what only says where a secret is, or which one. */
const PLAIN_ENDS = new Set(['URL', 'URI', 'FILE', 'PATH', 'DIR', 'HOST', 'PORT', 'ENDPOINT']);

/** Whether a variable holds a secret, by its name. */
export function holdsSecret(variable: string): boolean {
  const end = variable.toUpperCase().split('_').at(-1) ?? '';
  if (PLAIN_ENDS.has(end)) return false;
  return SECRET_ENDS.has(end) || isSecretName(variable);
}

/** The values of variables that hold secrets. */
export const hiddenIn = (variables: Readonly<Record<string, string>>): string[] =>
  Object.entries(variables).flatMap(([name, value]) => (holdsSecret(name) ? [value] : []));

/**
 * Passwords of addresses such as `postgres://user:password@host/db`, whatever the variable or argument is called. One that is not
 * written as an address wants it may have an `@` or a `/` in it, so it is taken up to the first and to the last `@`, and decoded.
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

/** Lines of a program without these values; short ones stay, since they stand in ordinary words. */
export class HiddenValues {
  readonly #needles: readonly Needle[];

  constructor(values: readonly string[]) {
    this.#needles = toNeedles(values.flatMap(value => [value, value.trim()]));
  }

  /** The line itself where none of them is in it. */
  without(line: string): string {
    return this.#needles.length === 0 ? line : replaceText(line, this.#needles);
  }
}
