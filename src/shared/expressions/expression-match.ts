/**
 * Whether a text matches a regular expression written by others, in time proportional to the text times the expression at most: all ways to
 * match are followed at once, so there is no backtracking. Each step is counted. Pure; it answers as the native engine does,
 * property-tested.
 *
 * Lookaheads and lookbehinds are decided for all positions of the text in one pass, lookaheads from the text's end backwards.
 */
import { parseExpression } from './expression-parts.ts';
import {
  AT,
  CHAR,
  DONE,
  noTables,
  PLACES,
  SET,
  SPLIT,
  writeProgram,
  type Program,
  type Tables,
} from './expression-program.ts';
import type { Steps } from '../util/steps.ts';

/** Cost of creating a character set, and of asking the native engine about one character. */
const SET_STEPS = 200;
const LOOKUP_STEPS = 5;
/** Cost of starting on a text. */
const TEXT_STEPS = 30;
/** The character codes below this are remembered for each set. */
const REMEMBERED = 256;

export type Matcher = (text: string) => boolean;

/** @throws ExpressionRefused, TooManySteps; the returned function throws them too */
export function toMatcher(source: string, steps: Steps): Matcher {
  const { whole, isUnicode } = parseExpression(source, steps);
  const tables = noTables();
  const program = writeProgram(whole, false, tables, steps);
  const shared: Shared = { tables, sets: [], lookarounds: [], isUnicode, steps, runs: 0 };
  return text => new Reading(shared, toCodes(text, isUnicode, steps)).run(program);
}

/** State shared by all readings with one expression. */
interface Shared {
  tables: Tables;
  sets: CharSet[];
  lookarounds: Program[];
  isUnicode: boolean;
  steps: Steps;
  runs: number;
}

class CharSet {
  readonly #native: RegExp;
  /** 0: not asked yet; 1: not in the set; 2: in the set. */
  readonly #remembered = new Uint8Array(REMEMBERED);
  readonly #steps: Steps;

  constructor(source: string, isUnicode: boolean, steps: Steps) {
    steps.spend(SET_STEPS + source.length);
    this.#native = new RegExp(`^${source}$`, isUnicode ? 'u' : '');
    this.#steps = steps;
  }

  has(code: number): boolean {
    const remembered = this.#remembered[code];
    if (remembered === 1 || remembered === 2) return remembered === 2;
    this.#steps.spend(LOOKUP_STEPS);
    const isIn = this.#native.test(String.fromCodePoint(code));
    if (code < REMEMBERED) this.#remembered[code] = isIn ? 2 : 1;
    return isIn;
  }
}

class Reading {
  readonly #shared: Shared;
  readonly #codes: Uint32Array;
  /** For each lookaround, whether it holds at each position; computed when first needed. */
  readonly #holds: Uint8Array[] = [];

  constructor(shared: Shared, codes: Uint32Array) {
    this.#shared = shared;
    this.#codes = codes;
  }

  /**
   * @param ends set to 1 at each position where a match ends, in the direction of reading; without it the first match ends the reading
   * @returns whether anything matches
   */
  run(program: Program, ends?: Uint8Array): boolean {
    const { isBackward, isAnchored, entry } = program;
    const last = this.#codes.length;
    let threads: number[] = [];
    let matches = false;
    for (let read = 0; read <= last; read += 1) {
      const at = isBackward ? last - read : read;
      const code = this.#codes[isBackward ? at : at - 1] ?? -1;
      const next: number[] = [];
      const mark = this.#nextRun();
      let isEnd = this.#step(program, threads, code, at, next, mark);
      if (read === 0 || !isAnchored) isEnd = this.#follow(program, entry, at, next, mark) || isEnd;
      if (isEnd) {
        if (!ends) return true;
        matches = true;
        ends[at] = 1;
      }
      threads = next;
      if (isAnchored && threads.length === 0) break;
    }
    return matches;
  }

  #nextRun(): number {
    this.#shared.runs += 1;
    return this.#shared.runs;
  }

  /** Consumes a character on every thread. @returns whether a thread reached the end */
  #step(
    program: Program,
    threads: number[],
    code: number,
    at: number,
    next: number[],
    mark: number,
  ): boolean {
    const { ops, args, nexts } = program;
    this.#shared.steps.spend(threads.length + 1);
    let isEnd = false;
    for (const thread of threads) {
      const arg = args[thread] ?? 0;
      const isTaken = ops[thread] === CHAR ? arg === code : this.#set(arg).has(code);
      if (isTaken && this.#follow(program, nexts[thread] ?? 0, at, next, mark)) isEnd = true;
    }
    return isEnd;
  }

  /** Follows all instructions that consume no character. @returns whether that reached the end */
  #follow(program: Program, from: number, at: number, into: number[], mark: number): boolean {
    const { ops, args, nexts, seen } = program;
    const open = [from];
    let isEnd = false;
    let steps = 0;
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      steps += 1;
      if (seen[each] === mark) continue;
      seen[each] = mark;
      const op = ops[each];
      if (op === CHAR || op === SET) {
        into.push(each);
      } else if (op === DONE) {
        isEnd = true;
      } else if (op === SPLIT) {
        open.push(nexts[each] ?? 0, args[each] ?? 0);
      } else if (
        op === AT ? this.#isAt(args[each] ?? 0, at) : this.#looksAround(args[each] ?? 0, at)
      ) {
        open.push(nexts[each] ?? 0);
      }
    }
    this.#shared.steps.spend(steps);
    return isEnd;
  }

  #isAt(index: number, at: number): boolean {
    const place = PLACES[index];
    if (place === 'start') return at === 0;
    if (place === 'end') return at === this.#codes.length;
    const isEdge = isWord(this.#codes[at - 1]) !== isWord(this.#codes[at]);
    return isEdge === (place === 'edge');
  }

  #looksAround(index: number, at: number): boolean {
    const lookaround = this.#shared.tables.lookarounds.items[index];
    if (!lookaround) return false;
    let holds = this.#holds[index];
    if (!holds) {
      const { tables, lookarounds, steps } = this.#shared;
      lookarounds[index] ??= writeProgram(lookaround.part, !lookaround.isBehind, tables, steps);
      holds = new Uint8Array(this.#codes.length + 1);
      this.run(lookarounds[index], holds);
      this.#holds[index] = holds;
    }
    return (holds[at] === 1) !== lookaround.isNot;
  }

  #set(index: number): CharSet {
    const { sets, tables, isUnicode, steps } = this.#shared;
    return (sets[index] ??= new CharSet(tables.sets.items[index] ?? '', isUnicode, steps));
  }
}

const isWord = (code = -1): boolean =>
  (code >= 48 && code <= 57) ||
  (code >= 65 && code <= 90) ||
  code === 95 ||
  (code >= 97 && code <= 122);

function toCodes(text: string, isUnicode: boolean, steps: Steps): Uint32Array {
  steps.spend(TEXT_STEPS + text.length);
  const codes = new Uint32Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at += 1, count += 1) {
    const code = isUnicode ? (text.codePointAt(at) ?? 0) : text.charCodeAt(at);
    if (code > 0xffff) at += 1;
    codes[count] = code;
  }
  return codes.subarray(0, count);
}
