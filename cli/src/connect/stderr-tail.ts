/**
 * The last of what a child said on its error output, for messages: bounded, and without the values that its configuration
 * put into its environment. Pure.
 *
 * Invariant: a secret is masked also where it came in pieces, and where the beginning of it is cut off already.
 */
import { StringDecoder } from 'node:string_decoder';

/** Shorter values are words such as `true`, which no message would survive. */
const MIN_SECRET = 6;
/** Stands for each character of a secret until its place in the text no longer matters. */
const MASK = '\uE000';

export class StderrTail {
  readonly #decoder = new StringDecoder('utf8');
  readonly #secrets: string[];
  readonly #longest: number;
  readonly #maxChars: number;
  #text = '';
  #isCut = false;

  /** @param secrets what the configuration of the server has set */
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

  /** The last `maxChars` characters at most, without secrets and without space around. */
  last(maxChars = this.#maxChars): string {
    return this.clean(this.#text, this.#isCut ? this.#longest : 0)
      .trim()
      .slice(-maxChars);
  }

  /** Any text without the secrets. @param from where to begin, after masking */
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

/** How much of a secret, of which the rest is still to come, is at the end of a text. */
function begunAtEnd(text: string, secret: string): number {
  const most = Math.min(secret.length - 1, text.length);
  for (let length = most; length >= MIN_SECRET; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

/** Longest first, so that a part of one never uncovers the rest. The lines of a value may be written apart. */
function secretsOf(values: readonly string[]): string[] {
  const parts = values.flatMap(value => [value, value.trim(), ...value.split(/\r?\n/)]);
  const long = parts.filter(part => part.length >= MIN_SECRET);
  return [...new Set(long)].toSorted((a, b) => b.length - a.length);
}
