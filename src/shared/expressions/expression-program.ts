/**
 * Compiles a regular expression to a program of small instructions, for one direction of reading. Pure. Repetitions are
 * written out, so a program may be large: each instruction is counted.
 */
import type { Part, Place } from './expression-parts.ts';
import type { Steps } from '../util/steps.ts';

export const CHAR = 0;
export const SET = 1;
export const SPLIT = 2;
export const AT = 3;
export const LOOKAROUND = 4;
export const DONE = 5;

/** Cost of visiting a part, and of writing an instruction. */
const PART_STEPS = 2;
const WRITE_STEPS = 4;

export type Lookaround = Part & { kind: 'lookaround' };

/** Instruction `i` does `ops[i]` with `args[i]` and continues at `nexts[i]`; a split continues at both `args[i]` and `nexts[i]`. */
export interface Program {
  ops: number[];
  args: number[];
  nexts: number[];
  entry: number;
  isBackward: boolean;
  /** Whether a match can begin only where the reading begins. */
  isAnchored: boolean;
  /** The mark under which each instruction was last visited; used by the code that runs the program. */
  seen: Int32Array;
}

export const PLACES: readonly Place[] = ['start', 'end', 'edge', 'inside'];

/** Tables that the instructions of all programs of one expression refer to by number. */
export interface Tables {
  /** Sources of character sets. */
  sets: Numbered<string>;
  lookarounds: Numbered<Lookaround>;
}

export const noTables = (): Tables => ({ sets: new Numbered(), lookarounds: new Numbered() });

/** Items numbered in the order in which they were first added. */
class Numbered<T> {
  readonly items: T[] = [];
  readonly #numbers = new Map<T, number>();

  numberOf(item: T): number {
    const known = this.#numbers.get(item);
    if (known !== undefined) return known;
    this.#numbers.set(item, this.items.length);
    return this.items.push(item) - 1;
  }
}

/** @throws TooManySteps */
export function writeProgram(
  part: Part,
  isBackward: boolean,
  tables: Tables,
  steps: Steps,
): Program {
  const writer = new Writer(isBackward, tables, steps);
  const entry = writer.write(part, writer.emit(DONE, 0, 0));
  const { ops, args, nexts } = writer;
  const isAnchored = beginsAt(part, isBackward);
  return { ops, args, nexts, entry, isBackward, isAnchored, seen: new Int32Array(ops.length) };
}

/** Whether every match of a part begins at the edge of the text where the reading begins. */
function beginsAt(part: Part, isBackward: boolean): boolean {
  if (part.kind === 'at') return part.place === (isBackward ? 'end' : 'start');
  if (part.kind === 'any') return part.ways.every(way => beginsAt(way, isBackward));
  if (part.kind !== 'all') return false;
  const first = part.parts.at(isBackward ? -1 : 0);
  return first !== undefined && beginsAt(first, isBackward);
}

class Writer {
  readonly ops: number[] = [];
  readonly args: number[] = [];
  readonly nexts: number[] = [];
  readonly #isBackward: boolean;
  readonly #tables: Tables;
  readonly #steps: Steps;

  constructor(isBackward: boolean, tables: Tables, steps: Steps) {
    this.#isBackward = isBackward;
    this.#tables = tables;
    this.#steps = steps;
  }

  emit(op: number, arg: number, next: number): number {
    this.#steps.spend(WRITE_STEPS);
    this.ops.push(op);
    this.args.push(arg);
    this.nexts.push(next);
    return this.ops.length - 1;
  }

  /** Writes a part in front of the instruction `next`. @returns where it begins */
  write(part: Part, next: number): number {
    this.#steps.spend(PART_STEPS);
    switch (part.kind) {
      case 'char':
        return this.emit(CHAR, part.code, next);
      case 'set':
        return this.emit(SET, this.#tables.sets.numberOf(part.text), next);
      case 'at':
        return this.emit(AT, PLACES.indexOf(part.place), next);
      case 'lookaround':
        return this.emit(LOOKAROUND, this.#tables.lookarounds.numberOf(part), next);
      case 'all': {
        const write = (behind: number, each: Part) => this.write(each, behind);
        return this.#isBackward
          ? part.parts.reduce(write, next)
          : part.parts.reduceRight(write, next);
      }
      case 'any':
        return part.ways
          .map(way => this.write(way, next))
          .reduce((one, other) => this.emit(SPLIT, one, other));
      case 'times':
        return this.#times(part, next);
    }
  }

  #times({ part, least, most }: Part & { kind: 'times' }, next: number): number {
    let at = next;
    let left = least;
    if (most === Infinity) {
      const loop = this.emit(SPLIT, 0, next);
      const body = this.write(part, loop);
      this.args[loop] = body;
      at = least === 0 ? loop : body;
      left = Math.max(least - 1, 0);
    } else {
      for (let i = least; i < most; i += 1) at = this.emit(SPLIT, this.write(part, at), next);
    }
    for (let i = 0; i < left; i += 1) at = this.write(part, at);
    return at;
  }
}
