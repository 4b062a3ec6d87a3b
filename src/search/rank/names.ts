/**
 * Tools that a query calls by their names, in whatever way names are written: `server_name`, `mcp__server__name`, camelCase, with dashes, joined. Names are known by
 * a hash of their letters and digits, made once for each segment. Pure but for that.
 */
import type { Segment } from '../index/segment.ts';
import type { Parts } from '../index/part.ts';
import { TermMap, type Having } from '../index/term-map.ts';
import { hashText } from '../text/terms.ts';
import { toWords } from '../text/words.ts';

/** How many names are looked for, and how long one may be. */
const MAX_NAMES = 16;
const MAX_NAME_CHARS = 256;
/** What a whole query may have of words to be a name itself. */
const MAX_WHOLE_WORDS = 8;
const TOKEN = /[\p{L}\p{N}_][\p{L}\p{N}_.\-/:]*/gu;

/** The names of a segment's tools. */
interface Names {
  /** Hashes of all names, each once. */
  termHashes: Uint32Array;
  /** The hash of each tool's name. */
  hashes: Uint32Array;
  /** Whether the name is of several words, by tool. */
  isLong: Uint8Array;
}

const known = new WeakMap<Segment, Names>();
/** Which parts of a layout may have a name. */
const knownHaving = new WeakMap<Parts, Having>();
const names = new TermMap();
const NO_SERVER = { terms: new Uint32Array() };

const partsOf = (text: string): string[] =>
  toWords(text, MAX_NAME_CHARS)
    .flatMap(({ whole, parts }) => (parts.length > 0 ? parts : [whole]))
    .flatMap(part => part.split('_'))
    .filter(part => part !== '');

function toNames(segment: Segment): Names {
  const before = known.get(segment);
  if (before) return before;
  const hashes = new Uint32Array(segment.size);
  const isLong = new Uint8Array(segment.size);
  for (let tool = 0; tool < segment.size; tool += 1) {
    const parts = partsOf(segment.nameOf(tool));
    hashes[tool] = hashText(parts.join(''));
    isLong[tool] = parts.length > 1 ? 1 : 0;
  }
  const made = { termHashes: Uint32Array.from(new Set(hashes)), hashes, isLong };
  known.set(segment, made);
  return made;
}

function havingOf(all: Parts): Having {
  const before = knownHaving.get(all);
  if (before) return before;
  const having = names.of(
    all.parts.map(({ segment }) => ({ segment: toNames(segment), server: NO_SERVER })),
  );
  knownHaving.set(all, having);
  return having;
}

interface Asked {
  hash: number;
  /** What stands before the name must be the server's; '' where nothing does. */
  server: string;
  /** Whether a name of one word is meant. */
  isSure: boolean;
}

/** Each name that a query may be calling. */
function toAsked(query: string): Asked[] {
  const asked: Asked[] = [];
  const add = (parts: readonly string[], isAlone: boolean): void => {
    const sure = isAlone || parts.length > 1;
    asked.push({ hash: hashText(parts.join('')), server: '', isSure: sure });
    const from = parts[0] === 'mcp' ? 1 : 0;
    for (let at = from + 1; at < Math.min(parts.length, MAX_NAMES); at += 1) {
      const server = parts.slice(from, at).join('');
      asked.push({ hash: hashText(parts.slice(at).join('')), server, isSure: true });
    }
  };
  const tokens = (query.match(TOKEN) ?? []).map(partsOf).filter(parts => parts.length > 0);
  const whole = tokens.flat();
  if (whole.length <= MAX_WHOLE_WORDS && tokens.length > 1) add(whole, true);
  const written = tokens.filter((parts, i) => i < MAX_NAMES || parts.length > 1);
  for (const parts of written.slice(0, 4 * MAX_NAMES)) add(parts, tokens.length === 1);
  return asked;
}

const toJoined = (text: string): string => partsOf(text).join('');

/** The places of tools that take part and that the query calls by name; each once. */
export function toNamed(query: string, all: Parts): ReadonlySet<number> {
  const having = havingOf(all);
  const named = new Set<number>();
  for (const { hash, server: before, isSure } of toAsked(query)) {
    for (const at of having(hash)) {
      const part = all.parts[at];
      if (!part || (before !== '' && before !== toJoined(part.server.name))) continue;
      const { hashes, isLong } = toNames(part.segment);
      for (let tool = hashes.indexOf(hash); tool >= 0; tool = hashes.indexOf(hash, tool + 1)) {
        const isShown = !part.shown || part.shown[tool] === 1;
        if (isShown && (isSure || isLong[tool])) named.add(part.offset + tool);
      }
    }
  }
  return named;
}
