/**
 * How much work a regular expression of an untrusted schema can make. The engine backtracks, so that some short patterns take longer than
 * anybody waits. Pure, and on the careful side: what it cannot bound is refused, also where a cleverer look would find it harmless.
 */

/** Longest pattern, in UTF-16 units. */
const MAX_CHARS = 500;
/** A repetition of this many at most is taken for so many choices; more is a loop. */
const FEW = 8;
/** Steps that a match may take. */
const MAX_STEPS = 20_000_000;

/** What of a pattern makes work: each loop may run over the whole text, each choice doubles the ways, and so does each character in a loop of a loop. */
interface Work {
  loops: number;
  choices: number;
  isNested: boolean;
}

const NONE: Work = { loops: 0, choices: 0, isNested: false };

/** @param longest of the texts that are matched, in UTF-16 units. @returns whether the work is bounded by what a request may cost */
export function isTamePattern(pattern: string, longest: number): boolean {
  if (pattern.length > MAX_CHARS) return false;
  const work = workOf(pattern);
  if (!work) return false;
  // Without an anchor each place of the text is a start.
  const starts = pattern.startsWith('^') && !pattern.includes('|') ? 0 : 1;
  const length = Math.max(longest, 2);
  // The ways to split a text over loops in loops are no more than those to cut it anywhere.
  const runs = work.isNested ? length * 2 ** length : length ** (work.loops + starts);
  return runs * 2 ** work.choices <= MAX_STEPS;
}

/** @returns undefined where it cannot be bounded */
function workOf(pattern: string): Work | undefined {
  const open: Work[] = [{ ...NONE }];
  let last = NONE;
  for (let i = 0; i < pattern.length; i += 1) {
    const here = open.at(-1);
    if (!here) return undefined;
    const rest = pattern.slice(i);
    const token = /^(?:\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[A-Za-z]\w*>))?)/su.exec(
      rest,
    )?.[0];
    if (/^(?:\\[1-9k]|\(\?<[=!])/.test(rest) || rest.startsWith('[') !== (token?.[0] === '[')) {
      return undefined;
    }
    if (token?.startsWith('(')) open.push({ ...NONE });
    if (rest.startsWith('|')) here.choices += 1;
    last = rest.startsWith(')') ? (open.pop() ?? NONE) : NONE;
    i += (token?.length ?? 1) - 1;
    if (token?.startsWith('(') || rest.startsWith('|')) continue;
    const times = timesOf(pattern.slice(i + 1));
    const into = open.at(-1);
    if (!into) return undefined;
    const repeated = repeat(last, times);
    if (!repeated) return undefined;
    into.loops += repeated.loops;
    into.choices += repeated.choices;
    into.isNested ||= repeated.isNested;
    i += times.chars;
  }
  return open.length === 1 ? open[0] : undefined;
}

interface Times {
  least: number;
  most: number;
  /** How long the quantifier is. */
  chars: number;
}

function timesOf(text: string): Times {
  const [all, sign, least, comma, most] =
    /^(?:([*+?])|\{(\d{1,6})(,?)(\d{0,6})\})\??/.exec(text) ?? [];
  if (all === undefined) return { least: 1, most: 1, chars: 0 };
  const chars = all.length;
  if (sign !== undefined) {
    return { least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity, chars };
  }
  const upper = comma === '' ? least : most;
  return { least: Number(least), most: upper === '' ? Infinity : Number(upper), chars };
}

/** A part that is repeated; undefined where the repetitions multiply without end. */
function repeat({ loops, choices, isNested }: Work, { least, most }: Times): Work | undefined {
  if (most <= FEW) {
    const times = Math.max(most, 1);
    if (isNested && most > 1) return undefined;
    return { loops: loops * times, choices: choices * times + most - least, isNested };
  }
  if (least === most && loops === 0) return { loops: 0, choices: choices * most, isNested };
  if (loops + choices === 0) return { loops: 1, choices: 0, isNested };
  // A loop over what can be matched in two ways tries all combinations; over more, or once more, nobody can say.
  return loops + choices === 1 && !isNested ? { loops: 1, choices: 0, isNested: true } : undefined;
}
