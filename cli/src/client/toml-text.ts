/**
 * Finds, adds, replaces or removes one subtable in a TOML file, and keeps every other character. Pure.
 *
 * Invariant: the written text has the same statements as before except for that table; else nothing is written.
 */
import { isDeepStrictEqual } from 'node:util';
import { toTomlTable } from '../../../src/servers/transfer/host-entry.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { NotEditable } from './not-editable.ts';
import { readStatements, type Statement } from './toml-statements.ts';

/** A range of lines that belongs to the table. */
type Part = readonly [from: number, to: number];

/** Returns the text of the table with its subtables; undefined where there is none. @throws NotEditable */
export function readTomlTable(text: string, of: string, name: string): string | undefined {
  const parts = partsOf(text, of, name);
  return parts.length === 0 ? undefined : parts.map(part => text.slice(...part)).join('');
}

/** @returns the text with the table replaced, or added at the end @throws NotEditable */
export function withTomlTable(text: string, of: string, name: string, entry: JsonObject): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const table = toTomlTable([of, name], entry).replaceAll('\n', eol);
  const [first, ...more] = partsOf(text, of, name);
  const isTable = first && /^[ \t]*\[/.test(text.slice(...first));
  const others = isTable ? text : withoutParts(text, first ? [first, ...more] : []);
  const gap = others === '' ? '' : others.endsWith('\n') ? eol : eol + eol;
  const edited = isTable
    ? text.slice(0, first[0]) + table + withoutParts(text, more, first[1])
    : others + gap + table;
  return checked(edited, text, of, name, table);
}

/** @returns the text without the table, if it had it @throws NotEditable */
export function withoutTomlTable(text: string, of: string, name: string): string {
  const parts = partsOf(text, of, name);
  return parts.length === 0 ? text : checked(withoutParts(text, parts), text, of, name, undefined);
}

/** Also removes the empty line before each part, which was added with it. */
function withoutParts(text: string, parts: readonly Part[], start = 0): string {
  let result = '';
  let at = start;
  for (const [from, to] of parts) {
    result += text.slice(at, from).replace(/(^|\n)\r?\n$/, '$1');
    at = to;
  }
  return result + text.slice(at);
}

/** Consecutive statements of the table form one part, with the comments between them. */
function partsOf(text: string, of: string, name: string): Part[] {
  const parts: [number, number][] = [];
  let isOpen = false;
  for (const statement of readStatements(text)) {
    refuseOtherForms(statement, of);
    const isOwn = isIn(statement, of, name);
    const last = parts.at(-1);
    if (isOwn && isOpen && last) last[1] = statement.to;
    else if (isOwn) parts.push([statement.from, statement.to]);
    isOpen = isOwn;
  }
  return parts;
}

const isIn = ({ path }: Statement, of: string, name: string): boolean =>
  path[0] === of && path[1] === name;

function refuseOtherForms({ path, kind }: Statement, of: string): void {
  if (path.length !== 1 || path[0] !== of || kind === 'table') return;
  throw new NotEditable(`has ${of} as ${kind === 'list' ? 'a list' : 'one value'}`);
}

function checked(
  edited: string,
  before: string,
  of: string,
  name: string,
  table: string | undefined,
): string {
  const others = (text: string) =>
    readStatements(text)
      .filter(statement => !isIn(statement, of, name))
      .map(({ path, kind, from, to }) => [path, kind, text.slice(from, to).trim()]);
  const isRight =
    readTomlTable(edited, of, name) === table && isDeepStrictEqual(others(edited), others(before));
  if (isRight) return edited;
  throw new NotEditable('is written in a form that this command cannot edit');
}
