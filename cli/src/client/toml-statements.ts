/**
 * Splits a TOML file into its headers and key-value pairs. Values are only scanned for their end: strings, brackets and comments are
 * recognised, so that nothing inside them is taken for a header. Pure.
 */
import { NotEditable } from './not-editable.ts';
import { tryJson } from '../../../src/shared/json/json-spans.ts';

/** A header, or a key with its value. */
export interface Statement {
  /** The keys from the root. */
  path: string[];
  kind: 'table' | 'list' | 'pair';
  /** Start of its line, and start of the line after it. */
  from: number;
  to: number;
}

const SPACES = /[ \t]*/y;
const BETWEEN = /(?:[\s\uFEFF]+|#[^\n]*)*/y;
const REST_OF_LINE = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const BARE_VALUE = /[^\s,#[\]{}"']+(?:[ \t]+[0-9:.Z+-]+)?/y;
/** Single-line strings. */
const BASIC = /"(?:[^"\\\n]|\\[^\n])*"/y;
const LITERAL = /'[^'\n]*'/y;
/** Multi-line strings; up to two more quotes may stand before the closing ones. */
const LONG_BASIC = /"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}/y;
const LONG_LITERAL = /'''(?:[^']|'{1,2}(?!'))*'{3,5}/y;

/** Returns the statements in order. @throws NotEditable where the text is not TOML, as far as it is checked */
export function readStatements(text: string): Statement[] {
  const statements: Statement[] = [];
  let table: string[] = [];
  let at = matchAt(BETWEEN, text, 0) ?? 0;
  while (at < text.length) {
    const from = text.lastIndexOf('\n', at - 1) + 1;
    const opening = /\[{0,2}/y.exec(text.slice(at, at + 2))?.[0] ?? '';
    const { path, end } = readKey(text, at + opening.length);
    if (opening === '') {
      at = skipValue(text, matchAt(SPACES, text, expect(text, end, '=')) ?? end);
      statements.push({ path: [...table, ...path], kind: 'pair', from, to: at });
    } else {
      at = expect(text, end, ']'.repeat(opening.length));
      table = path;
      statements.push({ path, kind: opening === '[' ? 'table' : 'list', from, to: at });
    }
    at = matchAt(REST_OF_LINE, text, at) ?? fail(text, at);
    const last = statements.at(-1);
    if (last) last.to = at;
    at = matchAt(BETWEEN, text, at) ?? at;
  }
  return statements;
}

function readKey(text: string, start: number): { path: string[]; end: number } {
  const path: string[] = [];
  let at = start;
  for (;;) {
    at = matchAt(SPACES, text, at) ?? at;
    const end =
      matchAt(BARE_KEY, text, at) ?? matchAt(BASIC, text, at) ?? matchAt(LITERAL, text, at);
    if (end === undefined) return fail(text, at);
    path.push(toKey(text.slice(at, end)));
    at = matchAt(SPACES, text, end) ?? end;
    if (text[at] !== '.') return { path, end: at };
    at += 1;
  }
}

function toKey(written: string): string {
  if (written.startsWith('"')) return String(tryJson(written) ?? written);
  return written.startsWith("'") ? written.slice(1, -1) : written;
}

/** Index after a value. */
function skipValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    if (depth > 0) at = matchAt(BETWEEN, text, at) ?? at;
    const character = text[at];
    if (character === '[' || character === '{') depth += 1;
    else if (depth > 0 && (character === ']' || character === '}')) depth -= 1;
    else if (depth === 0 || (character !== ',' && character !== '=' && character !== '.')) {
      at = skipPlain(text, at);
      continue;
    }
    at += 1;
  } while (depth > 0);
  return at;
}

/** Index after a string, a number, a date, a key. */
function skipPlain(text: string, at: number): number {
  for (const form of [LONG_BASIC, LONG_LITERAL, BASIC, LITERAL, BARE_VALUE]) {
    const end = matchAt(form, text, at);
    if (end !== undefined) return end;
  }
  return fail(text, at);
}

function expect(text: string, at: number, wanted: string): number {
  return text.startsWith(wanted, at) ? at + wanted.length : fail(text, at);
}

/** Index after the match of a sticky expression at a position. */
function matchAt(expression: RegExp, text: string, at: number): number | undefined {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : undefined;
}

function fail(text: string, at: number): never {
  const line = text.slice(0, at).split('\n').length;
  throw new NotEditable(`is invalid TOML in line ${line}`);
}
