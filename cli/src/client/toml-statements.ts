/**
 * Takes a TOML file apart into its headers and pairs, and values into no more than where they end: strings, brackets and comments are
 * told apart, so that nothing inside of one is taken for a header. Pure.
 */
import { NotEditable } from './not-editable.ts';

/** A header, or a key with its value. */
export interface Statement {
  /** The keys from the root on. */
  path: string[];
  kind: 'table' | 'list' | 'pair';
  /** Where its line begins, and where the next one does. */
  from: number;
  to: number;
}

const SPACES = /[ \t]*/y;
const BETWEEN = /(?:[\s\uFEFF]+|#[^\n]*)*/y;
const REST_OF_LINE = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const BARE_VALUE = /[^\s,#[\]{}"']+(?:[ \t]+[0-9:.Z+-]+)?/y;
/** Strings of one line. */
const BASIC = /"(?:[^"\\\n]|\\[^\n])*"/y;
const LITERAL = /'[^'\n]*'/y;
/** Those of several lines; two quotes more may stand before the end. */
const LONG_BASIC = /"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}/y;
const LONG_LITERAL = /'''(?:[^']|'{1,2}(?!'))*'{3,5}/y;

/** Its statements in their order. @throws NotEditable where it is no TOML, as far as that is looked at */
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
  if (!/^["']/.test(written)) return written;
  try {
    return written.startsWith('"') ? String(JSON.parse(written)) : written.slice(1, -1);
  } catch {
    return written;
  }
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

/** Index after what an expression finds at a place. */
function matchAt(expression: RegExp, text: string, at: number): number | undefined {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : undefined;
}

function fail(text: string, at: number): never {
  const line = text.slice(0, at).split('\n').length;
  throw new NotEditable(`is no TOML in line ${line}`);
}
