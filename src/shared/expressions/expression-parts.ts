/**
 * Parses a regular expression written by others. Pure. The native constructor decides whether an expression is valid, with the flag `u` or
 * else without it; what is parsed here is valid. A character set stays text, since the native engine decides what is in it. Refused are
 * back references, which have no bounded meaning, and flags inside the expression, which few engines know.
 */
import type { Steps } from '../util/steps.ts';

/** Longest expression, in UTF-16 units. */
const MAX_CHARS = 4_000;
/** Deepest nesting of groups. */
const MAX_DEPTH = 100;
/** Cost of parsing an expression, and of looking up a character property. */
const READ_STEPS = 500;
const PROPERTY_STEPS = 10_000;

export type Place = 'start' | 'end' | 'edge' | 'inside';

export type Part =
  | { kind: 'char'; code: number }
  /** One character of a set, given by the set's source. */
  | { kind: 'set'; text: string }
  /** A sequence. */
  | { kind: 'all'; parts: Part[] }
  /** Alternatives. */
  | { kind: 'any'; ways: Part[] }
  | { kind: 'times'; part: Part; least: number; most: number }
  | { kind: 'at'; place: Place }
  | { kind: 'lookaround'; part: Part; isBehind: boolean; isNot: boolean };

export interface Expression {
  whole: Part;
  /** Whether texts are read by code points, otherwise by UTF-16 units. */
  isUnicode: boolean;
}

/** The expression is not supported. The message continues a sentence that begins with "a pattern". */
export class ExpressionRefused extends Error {}

/** @throws ExpressionRefused, TooManySteps */
export function parseExpression(source: string, steps: Steps): Expression {
  if (source.length > MAX_CHARS) throw new ExpressionRefused('is too long');
  const properties = source.split(/\\p/i).length - 1;
  steps.spend(READ_STEPS + source.length + properties * PROPERTY_STEPS);
  const isUnicode = isValid(source, 'u');
  if (!isUnicode && !isValid(source, ''))
    throw new ExpressionRefused('is not a regular expression');
  return { whole: new Reader(source, isUnicode).read(), isUnicode };
}

function isValid(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

const ESCAPE_UNICODE =
  /\\(?:u\{[\dA-Fa-f]+\}|u[Dd][89ABab][\dA-Fa-f]{2}\\u[Dd][C-Fc-f][\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Za-z]|[Pp]\{[^}]*\}|[^])/uy;
const ESCAPE_PLAIN = /\\(?:u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Za-z]|0[0-7]{0,2}|[^])/y;
const CLASS = /\[(?:\\[^]|[^\]\\])*\]/y;
const GROUP = /\((?:\?(?::|<?[=!]|<(?![=!])[^>]*>))?/y;
const TIMES = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;
const PLACES: Readonly<Record<string, Place>> = {
  '^': 'start',
  $: 'end',
  '\\b': 'edge',
  '\\B': 'inside',
};

class Reader {
  readonly #source: string;
  readonly #isUnicode: boolean;
  #at = 0;

  constructor(source: string, isUnicode: boolean) {
    this.#source = source;
    this.#isUnicode = isUnicode;
  }

  read(): Part {
    const whole = this.#ways(MAX_DEPTH);
    if (this.#at < this.#source.length) throw new ExpressionRefused('cannot be read');
    return whole;
  }

  /** Reads up to a closing bracket, or the end. */
  #ways(depth: number): Part {
    if (depth === 0) throw new ExpressionRefused('is nested too deep');
    const ways: Part[] = [];
    let parts: Part[] = [];
    for (;;) {
      const next = this.#source[this.#at];
      if (next === '|' || next === ')' || next === undefined) {
        ways.push({ kind: 'all', parts });
        if (next !== '|') return ways.length === 1 ? { kind: 'all', parts } : { kind: 'any', ways };
        parts = [];
        this.#at += 1;
        continue;
      }
      parts.push(this.#repeated(this.#one(next, depth)));
    }
  }

  #one(next: string, depth: number): Part {
    if (next === '(') return this.#group(depth);
    if (next === '[') return { kind: 'set', text: this.#take(CLASS) };
    if (next === '\\') return this.#escape();
    const place = PLACES[next];
    if (!place && next !== '.') {
      const code = this.#isUnicode
        ? (this.#source.codePointAt(this.#at) ?? 0)
        : this.#source.charCodeAt(this.#at);
      this.#at += code > 0xffff ? 2 : 1;
      return { kind: 'char', code };
    }
    this.#at += 1;
    return place ? { kind: 'at', place } : { kind: 'set', text: next };
  }

  #group(depth: number): Part {
    const head = this.#take(GROUP);
    if (this.#source[this.#at] === '?') throw new ExpressionRefused('changes its flags');
    const part = this.#ways(depth - 1);
    this.#at += 1;
    const isLookaround = /^\(\?<?[=!]$/.test(head);
    if (!isLookaround) return part;
    return { kind: 'lookaround', part, isBehind: head.includes('<'), isNot: head.endsWith('!') };
  }

  #escape(): Part {
    const text = this.#take(this.#isUnicode ? ESCAPE_UNICODE : ESCAPE_PLAIN);
    if (/^\\[1-9k]/.test(text)) throw new ExpressionRefused('refers back to what it matched');
    if (text === '\\c') throw new ExpressionRefused('cannot be read');
    const place = PLACES[text];
    return place ? { kind: 'at', place } : { kind: 'set', text };
  }

  #repeated(part: Part): Part {
    TIMES.lastIndex = this.#at;
    const [all, least, comma, most] = TIMES.exec(this.#source) ?? [];
    if (all === undefined) return part;
    this.#at += all.length;
    if (least === undefined) {
      const sign = all[0];
      return {
        kind: 'times',
        part,
        least: sign === '+' ? 1 : 0,
        most: sign === '?' ? 1 : Infinity,
      };
    }
    const upper = comma === '' ? Number(least) : most === '' ? Infinity : Number(most);
    return { kind: 'times', part, least: Number(least), most: upper };
  }

  /** Consumes what a sticky expression matches here. */
  #take(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const [text] = expression.exec(this.#source) ?? [];
    if (text === undefined) throw new ExpressionRefused('cannot be read');
    this.#at += text.length;
    return text;
  }
}
