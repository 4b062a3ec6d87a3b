/**
 * Finds the tools that a query calls by name, in any spelling: `server_name`, `mcp__server__name`, camelCase, with dashes, joined. Names
 * are compared by a hash of their letters and digits, computed once per segment. Pure except for this cache.
 */
import type { Segment } from '../index/segment.ts';
import { partAt, type Parts } from '../index/part.ts';
import { FNV_OFFSET, FNV_PRIME, hashText, mix } from '../text/terms.ts';
import { MAX_WORD_CHARS, toWords } from '../text/words.ts';

/** How many names are looked up, and how long one may be. */
const MAX_NAMES = 16;
const MAX_NAME_CHARS = 256;
/** A query of at most so many words may itself be a name. */
const MAX_WHOLE_WORDS = 8;
const UNITS = { dash: 0x2d, dot: 0x2e, zero: 0x30, nine: 0x39, lowLine: 0x5f, a: 0x61, z: 0x7a };
const TOKEN = /[\p{L}\p{N}_][\p{L}\p{N}_.\-/:]*/gu;

/** Hashes of tool names, by their place in a segment or in a layout. */
interface Names {
  hashes: Uint32Array;
  /** Whether the name consists of several words. */
  isLong: Uint8Array;
}

const known = new WeakMap<Segment, Names>();
/** The names of a layout, one segment after the other, so that a search scans one array. */
const knownAll = new WeakMap<Parts, Names>();

const partsOf = (text: string): string[] =>
  toWords(text, MAX_NAME_CHARS)
    .flatMap(({ whole, parts }) => (parts.length > 0 ? parts : [whole]))
    .flatMap(part => part.split('_'))
    .filter(part => part !== '');

interface Name {
  hash: number;
  isLong: boolean;
}

function readName(name: string): Name {
  const parts = partsOf(name);
  return { hash: hashText(parts.join('')), isLong: parts.length > 1 };
}

/**
 * Reads a name of lower-case letters and digits with `_`, `-` or `.` between its words, as most are, in one pass over its characters; that
 * matters where an isolate reads 10,000 names for its first query. Returns undefined for any other name.
 */
function readPlainName({ names: units, nameStarts }: Segment, tool: number): Name | undefined {
  const [from = 0, to = 0] = [nameStarts[tool], nameStarts[tool + 1]];
  if (to - from > MAX_NAME_CHARS) return undefined;
  let [hash, words, length] = [FNV_OFFSET, 0, 0];
  for (let at = from; at < to; at += 1) {
    const unit = units[at] ?? 0;
    if (unit === UNITS.dash || unit === UNITS.dot || unit === UNITS.lowLine) length = 0;
    else {
      const isLetter = unit >= UNITS.a && unit <= UNITS.z;
      const isDigit = unit >= UNITS.zero && unit <= UNITS.nine;
      if ((!isLetter && !isDigit) || length === MAX_WORD_CHARS) return undefined;
      if (length === 0) words += 1;
      length += 1;
      hash = Math.imul(hash ^ unit, FNV_PRIME);
    }
  }
  return { hash: mix(hash), isLong: words > 1 };
}

function toNames(segment: Segment): Names {
  const before = known.get(segment);
  if (before) return before;
  const hashes = new Uint32Array(segment.size);
  const isLong = new Uint8Array(segment.size);
  for (let tool = 0; tool < segment.size; tool += 1) {
    const name = readPlainName(segment, tool) ?? readName(segment.nameOf(tool));
    hashes[tool] = name.hash;
    isLong[tool] = name.isLong ? 1 : 0;
  }
  const made = { hashes, isLong };
  known.set(segment, made);
  return made;
}

function toAllNames(all: Parts): Names {
  const before = knownAll.get(all);
  if (before) return before;
  const made = { hashes: new Uint32Array(all.places), isLong: new Uint8Array(all.places) };
  for (const { segment, offset } of all.parts) {
    const { hashes, isLong } = toNames(segment);
    made.hashes.set(hashes, offset);
    made.isLong.set(isLong, offset);
  }
  knownAll.set(all, made);
  return made;
}

interface CalledName {
  hash: number;
  /** The server that the query names before the tool; '' where it names none. */
  server: string;
  /** Whether a tool whose name is a single word may match. */
  isSure: boolean;
}

/** Returns each name that the query may be calling. */
function toCalledNames(query: string): CalledName[] {
  const called: CalledName[] = [];
  const add = (parts: readonly string[], isAlone: boolean): void => {
    const sure = isAlone || parts.length > 1;
    called.push({ hash: hashText(parts.join('')), server: '', isSure: sure });
    const from = parts[0] === 'mcp' ? 1 : 0;
    for (let at = from + 1; at < Math.min(parts.length, MAX_NAMES); at += 1) {
      const server = parts.slice(from, at).join('');
      called.push({ hash: hashText(parts.slice(at).join('')), server, isSure: true });
    }
  };
  const tokens = (query.match(TOKEN) ?? []).map(partsOf).filter(parts => parts.length > 0);
  const whole = tokens.flat();
  if (whole.length <= MAX_WHOLE_WORDS && tokens.length > 1) add(whole, true);
  const written = tokens.filter((parts, i) => i < MAX_NAMES || parts.length > 1);
  for (const parts of written.slice(0, 4 * MAX_NAMES)) add(parts, tokens.length === 1);
  return called;
}

const toJoined = (text: string): string => partsOf(text).join('');

/** Returns the places of tools that take part and that the query calls by name; each once. */
export function toNamed(query: string, all: Parts): ReadonlySet<number> {
  const { hashes, isLong } = toAllNames(all);
  const named = new Set<number>();
  for (const { hash, server, isSure } of toCalledNames(query)) {
    for (let at = hashes.indexOf(hash); at >= 0; at = hashes.indexOf(hash, at + 1)) {
      const part = partAt(all, at);
      const isShown = part && (!part.shown || part.shown[at - part.offset] === 1);
      const isItsServer = server === '' || server === toJoined(part?.server.name ?? '');
      if (isShown && isItsServer && (isSure || isLong[at])) named.add(at);
    }
  }
  return named;
}
