/**
 * Tools that a query calls by their names, in whatever way names are written: `server_name`, `mcp__server__name`, camelCase, with dashes, joined. Names are known by
 * a hash of their letters and digits, made once for each segment. Pure but for that.
 */
import type { Segment } from '../index/segment.ts';
import type { Parts } from '../index/part.ts';
import { hashText } from '../text/terms.ts';
import { toWords } from '../text/words.ts';

/** How many names are looked for, and how long one may be. */
const MAX_NAMES = 16;
const MAX_NAME_CHARS = 256;
/** What a whole query may have of words to be a name itself. */
const MAX_WHOLE_WORDS = 8;
const TOKEN = /[\p{L}\p{N}_][\p{L}\p{N}_.\-/:]*/gu;

interface Names {
  /** Tools by the hash of their name. */
  tools: ReadonlyMap<number, readonly number[]>;
  /** Whether the name is of several words, by tool. */
  isLong: Uint8Array;
}

const known = new WeakMap<Segment, Names>();

const partsOf = (text: string): string[] =>
  toWords(text, MAX_NAME_CHARS)
    .flatMap(({ whole, parts }) => (parts.length > 0 ? parts : [whole]))
    .flatMap(part => part.split('_'))
    .filter(part => part !== '');

function toNames(segment: Segment): Names {
  const before = known.get(segment);
  if (before) return before;
  const tools = new Map<number, number[]>();
  const isLong = new Uint8Array(segment.size);
  for (let tool = 0; tool < segment.size; tool += 1) {
    const parts = partsOf(segment.nameOf(tool));
    const hash = hashText(parts.join(''));
    isLong[tool] = parts.length > 1 ? 1 : 0;
    const list = tools.get(hash);
    if (list) list.push(tool);
    else tools.set(hash, [tool]);
  }
  const names = { tools, isLong };
  known.set(segment, names);
  return names;
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
  const asked = toAsked(query);
  const named = new Set<number>();
  for (const { segment, shown, offset, server } of all.parts) {
    const { tools, isLong } = toNames(segment);
    for (const { hash, server: before, isSure } of asked) {
      const found = tools.get(hash);
      if (!found || (before !== '' && before !== toJoined(server.name))) continue;
      for (const tool of found) {
        if ((!shown || shown[tool]) && (isSure || isLong[tool])) named.add(offset + tool);
      }
    }
  }
  return named;
}
