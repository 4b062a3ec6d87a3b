/**
 * The end of a child's stderr, for messages: bounded, and without the values that its configuration put into its environment. Pure.
 *
 * Invariant: a secret is masked even if it arrived in pieces, or if its start was cut off.
 */
import { StringDecoder } from 'node:string_decoder';

/** Shorter values are words such as `true`; masking them would make every message unreadable. */
const MIN_SECRET = 6;
/** Replaces each character of a secret until positions in the text no longer matter. */
const MASK = '\uE000';

export class StderrTail {
  readonly #decoder = new StringDecoder('utf8');
  readonly #secrets: string[];
  readonly #longest: number;
  readonly #maxChars: number;
  #text = '';
  #isCut = false;

  /** @param secrets values that the server's configuration sets */
  constructor(maxChars: number, secrets: readonly string[] = []) {
    this.#maxChars = maxChars;
    this.#secrets = secretsOf(secrets);
    this.#longest = Math.max(0, ...this.#secrets.map(secret => secret.length));
  }

  push(chunk: Buffer): void {
    this.#text += this.#decoder.write(chunk);
    const kept = this.#maxChars + this.#longest;
    if (this.#text.length <= kept) return;
    this.#text = this.#text.slice(-kept);
    this.#isCut = true;
  }

  /** Returns at most the last `maxChars` characters, trimmed and without secrets. */
  last(maxChars = this.#maxChars): string {
    return this.clean(this.#text, this.#isCut ? this.#longest : 0)
      .trim()
      .slice(-maxChars);
  }

  /** Masks the secrets in any text. @param from where the result starts, counted after masking */
  clean(text: string, from = 0): string {
    let masked = text;
    for (const secret of this.#secrets) {
      masked = masked.replaceAll(secret, MASK.repeat(secret.length));
    }
    const open = Math.max(0, ...this.#secrets.map(secret => begunAtEnd(masked, secret)));
    masked = masked.slice(0, masked.length - open) + MASK.repeat(open);
    return masked.slice(from).replaceAll(/\uE000+/g, '***');
  }
}

/** How many characters at the end of a text may be the start of a secret whose rest is still to come. */
function begunAtEnd(text: string, secret: string): number {
  const most = Math.min(secret.length - 1, text.length);
  for (let length = most; length >= MIN_SECRET; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

/** Longest first, so that masking part of a secret never uncovers the rest. Lines of a multi-line value are masked separately too. */
function secretsOf(values: readonly string[]): string[] {
  const parts = values.flatMap(value => [value, value.trim(), ...value.split(/\r?\n/)]);
  const long = parts.filter(part => part.length >= MIN_SECRET);
  return [...new Set(long)].toSorted((a, b) => b.length - a.length);
}
