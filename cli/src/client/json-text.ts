/**
 * Reads, adds, replaces or removes one member of one object in a JSON file with comments, and keeps every other character. Comments are
 * blanked for the parser, so that positions in both texts are equal. Pure.
 *
 * Invariant: the written text parses to the same value as before except for that member; else nothing is written.
 */
import { isDeepStrictEqual } from 'node:util';
import stripJsonComments from 'strip-json-comments';
import { skipSpace, skipString, skipValue, tryJson } from '../../../src/shared/json/json-spans.ts';
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';
import { NotEditable } from './not-editable.ts';

interface Parsed {
  value: JsonObject;
  /** The text with comments replaced by spaces. */
  bare: string;
  root: Braces;
}

/** An object in a text: the positions of its braces, and its members. */
interface Braces {
  open: number;
  close: number;
  members: Member[];
}

interface Member {
  key: string;
  from: number;
  valueFrom: number;
  to: number;
}

/** Replaces a range of a text. */
type Edit = readonly [from: number, to: number, text: string];

const BOM = '\uFEFF';

/** Returns the member `name` of the object `of`, without comments; undefined where there is none. @throws NotEditable */
export function readJsonMember(text: string, of: string, name: string): unknown {
  if (isEmpty(text)) return undefined;
  const { value, bare, root } = parse(text);
  const found = findContainer(bare, root, of);
  return found && Object.hasOwn(asObject(value[of]), name) ? asObject(value[of])[name] : undefined;
}

/** @returns the text with the member added or replaced @throws NotEditable */
export function withJsonMember(text: string, of: string, name: string, entry: JsonObject): string {
  if (isEmpty(text)) return `${JSON.stringify({ [of]: { [name]: entry } }, null, 2)}\n`;
  const { value, bare, root } = parse(text);
  const found = findContainer(bare, root, of);
  const known = found?.members.find(({ key }) => key === name);
  const edits = known
    ? [replacing(text, known, entry)]
    : found
      ? inserting(text, bare, found, name, entry)
      : inserting(text, bare, root, of, { [name]: entry });
  const others = asObject(value[of]);
  return edited(text, edits, { ...value, [of]: { ...others, [name]: entry } });
}

/** @returns the text without the member, if it had it @throws NotEditable */
export function withoutJsonMember(text: string, of: string, name: string): string {
  if (isEmpty(text)) return text;
  const { value, bare, root } = parse(text);
  const found = findContainer(bare, root, of);
  const at = found?.members.findIndex(({ key }) => key === name) ?? -1;
  if (!found || at < 0) return text;
  const { [name]: _, ...others } = asObject(value[of]);
  return edited(text, removing(text, bare, found, at), { ...value, [of]: others });
}

const isEmpty = (text: string): boolean => text.replace(BOM, '').trim() === '';
const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

function parse(text: string): Parsed {
  const given = text.replace(BOM, ' ');
  const value = tryJson(stripJsonComments(given, { trailingCommas: true }));
  if (value === undefined) throw new NotEditable('is not valid JSON');
  if (!isObject(value)) throw new NotEditable('is not a JSON object');
  const bare = stripJsonComments(given);
  return { value, bare, root: readBraces(bare, skipSpace(bare, 0)) };
}

/** Applies the edits. @throws NotEditable where the result does not parse to `expected` */
function edited(text: string, edits: readonly Edit[], expected: JsonObject): string {
  let result = '';
  let at = 0;
  for (const [from, to, put] of edits) {
    result += text.slice(at, from) + put;
    at = to;
  }
  result += text.slice(at);
  if (isDeepStrictEqual(parse(result).value, expected)) return result;
  throw new NotEditable('is written in a form that this command cannot edit');
}

function findContainer(bare: string, { members }: Braces, of: string): Braces | undefined {
  const [container, other] = members.filter(({ key }) => key === of);
  if (!container) return undefined;
  if (other) throw new NotEditable(`has "${of}" twice`);
  if (bare[container.valueFrom] === '{') return readBraces(bare, container.valueFrom);
  throw new NotEditable(`has a "${of}" that is not an object`);
}

function readBraces(bare: string, open: number): Braces {
  const members: Member[] = [];
  let at = skipSpace(bare, open + 1);
  while (bare[at] !== '}') {
    const keyEnd = skipString(bare, at);
    const valueFrom = skipSpace(bare, skipSpace(bare, keyEnd) + 1);
    const to = skipValue(bare, valueFrom);
    members.push({ key: JSON.parse(bare.slice(at, keyEnd)) as string, from: at, valueFrom, to });
    at = skipSpace(bare, commaAfter(bare, to) ?? to);
  }
  return { open, close: at, members };
}

/** Index after the comma that follows a value. */
function commaAfter(bare: string, at: number): number | undefined {
  const comma = skipSpace(bare, at);
  return bare[comma] === ',' ? comma + 1 : undefined;
}

/** Adds a last member, on lines of its own unless the object is on one line. */
function inserting(
  text: string,
  bare: string,
  { open, close, members }: Braces,
  key: string,
  value: JsonObject,
): Edit[] {
  const last = members.at(-1);
  const outer = indentationAt(text, open);
  if (!last) {
    const at = endOfLine(text, open + 1);
    const member = toMember(text, outer + unitOf(text), key, value);
    const end = text.slice(at, close).includes('\n') ? '' : `${eolOf(text)}${outer}`;
    return [[at, at, member + end]];
  }
  const comma = commaAfter(bare, last.to);
  const parting: Edit[] = comma === undefined ? [[last.to, last.to, ',']] : [];
  const ending = comma === undefined ? '' : ',';
  if (!text.slice(open, last.from).includes('\n')) {
    const at = comma ?? last.to;
    const member = ` ${JSON.stringify(key)}: ${JSON.stringify(value)}${ending}`;
    return [...parting, [at, at, member]];
  }
  const at = endOfLine(text, comma ?? last.to);
  const member = toMember(text, indentationAt(text, last.from), key, value);
  return [...parting, [at, at, member + ending]];
}

function replacing(text: string, { from, valueFrom, to }: Member, value: JsonObject): Edit {
  const line = text.slice(text.lastIndexOf('\n', from) + 1, from);
  const isOwnLine = line.trim() === '' && text.includes('\n');
  return [valueFrom, to, isOwnLine ? toLines(text, line, value) : JSON.stringify(value)];
}

/** Removes a member with its comma, or the comma before it if it is the last; an object left without content becomes `{}`. */
function removing(
  text: string,
  bare: string,
  { open, close, members }: Braces,
  index: number,
): Edit[] {
  const { from = 0, to = 0 } = members[index] ?? {};
  const before = members[index - 1];
  const comma = commaAfter(bare, to);
  const end = comma ?? to;
  let start = from;
  while (text[start - 1] === ' ' || text[start - 1] === '\t') start -= 1;
  // If nothing else is on its line, the line goes too.
  if (/^[ \t]*\r?\n/.test(text.slice(end, close))) {
    if (text[start - 1] === '\n') start -= 1;
    if (text[start - 1] === '\r') start -= 1;
  }
  const isAlone =
    members.length === 1 && (text.slice(open + 1, start) + text.slice(end, close)).trim() === '';
  if (isAlone) return [[open + 1, close, '']];
  const parting = comma === undefined && before ? commaAfter(bare, before.to) : undefined;
  const edit: Edit = [start, end, ''];
  return parting === undefined ? [edit] : [[parting - 1, parting, ''], edit];
}

const toMember = (text: string, indentation: string, key: string, value: JsonObject): string =>
  `${eolOf(text)}${indentation}${JSON.stringify(key)}: ${toLines(text, indentation, value)}`;

const toLines = (text: string, indentation: string, value: JsonObject): string =>
  JSON.stringify(value, null, unitOf(text)).replaceAll('\n', `${eolOf(text)}${indentation}`);

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

/** The indentation unit of a file: that of its first indented line. */
const unitOf = (text: string): string => /\n([ \t]+)["/]/.exec(text)?.[1] ?? '  ';

/** The indentation of the line at a position. */
function indentationAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** The end of the line at a position, after comments that begin on it; the position itself if other text follows. */
function endOfLine(text: string, at: number): number {
  let end = at;
  for (;;) {
    while (text[end] === ' ' || text[end] === '\t') end += 1;
    if (text.startsWith('/*', end)) end = text.indexOf('*/', end) + 2;
    else if (text.startsWith('//', end)) end += /^.*/.exec(text.slice(end))?.[0].length ?? 0;
    else return text[end] === '\n' || text.startsWith('\r\n', end) ? end : at;
  }
}
