/** Regular expressions of others: the same answer as the native engine, in a bounded number of steps. */
import { describe, expect, it } from 'vitest';
import { toMatcher } from '../../../src/shared/expressions/expression-match.ts';
import { ExpressionRefused } from '../../../src/shared/expressions/expression-parts.ts';
import { Steps, TooManySteps } from '../../../src/shared/util/steps.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';

const matches = (source: string, text: string, steps = 1_000_000) =>
  toMatcher(source, new Steps(steps))(text);

/** As the validator compiles a pattern: with the flag `u` if possible. */
function native(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

const ATOMS = [
  'a', 'b', 'c', '-', '.', '\\d', '\\w', '\\s', '[ab]', '[^a]', '[a-c]', '\\.', '\\u0061', '\\x62', '\\p{L}',
  '[\\w-]', '\\W', '[^]', '\\n', 'é', '[^\\n]', '\\cJ', '\\0', '\\t', '\\u{62}', '[]',
]; // prettier-ignore
const PLAIN_ATOMS = [
  'a',
  'b',
  '\\-',
  '\\_',
  '\\@',
  '.',
  '[\\w-.]',
  '{',
  '}',
  ']',
  '\\p',
  '\\d',
  '[^a]',
  '\\u{2}',
  'a{,2}',
  '\\012',
  '\\U0061',
];
const TIMES = ['*', '+', '?', '{2}', '{1,3}', '{0,2}?', '*?', '{2,}', '{0}', '{3,3}'];
const LETTERS = [
  'a',
  'b',
  'c',
  '-',
  '.',
  '1',
  '_',
  ' ',
  '\n',
  'é',
  '\ud83d',
  '@',
  '{',
  'p',
  '\u0000',
  '\u2028',
  '2',
];

function drawExpression(random: Random, depth: number, atoms: readonly string[]): string {
  const inner = () => drawExpression(random, depth - 1, atoms);
  if (depth === 0) return random.pick(atoms);
  const kind = random.below(10);
  if (kind < 3) return `${inner()}${inner()}`;
  if (kind < 5) return `(?:${inner()})${random.pick(TIMES)}`;
  if (kind === 5) return `(${inner()}|${inner()}|)`;
  if (kind === 6) return `${inner()}${random.pick(['^', '$', '\\b', '\\B'])}${inner()}`;
  if (kind === 7) return `(${random.pick(['?=', '?!', '?<=', '?<!', '?<n>', '?:'])}${inner()})`;
  return random.pick(atoms);
}

const drawText = (random: Random) =>
  Array.from({ length: random.below(9) }, () => random.pick(LETTERS)).join('');

describe('a foreign regular expression', () => {
  it.each([
    ['with u', ATOMS, ''],
    ['without u', PLAIN_ATOMS, '\\_?'],
  ])(`[LLM-4] matches what the native engine matches, ${SEED}: %s`, (_what, atoms, begin) => {
    const random = createRandom();
    let met = 0;
    for (let drawn = 0; drawn < 5_000; drawn += 1) {
      const source = `${begin}${drawExpression(random, 4, atoms)}`;
      let expected: RegExp;
      try {
        expected = native(source);
      } catch {
        continue;
      }
      const matcher = toMatcher(source, new Steps(1_000_000));
      for (let tried = 0; tried < 5; tried += 1) {
        const text = drawText(random);
        const verdict = { source, text, matches: expected.test(text) };
        expect({ source, text, matches: matcher(text) }).toEqual(verdict);
        if (verdict.matches) met += 1;
      }
    }
    expect(met).toBeGreaterThan(3_000);
  });

  it.each([
    ['^\\u{1f600}$', '😀', '😁'],
    ['^\\ud83d\\ude00$', '😀', '😁'],
    ['^.$', '😀', 'ab'],
    ['^[😀-😂]+$', '😀😁', '😎'],
    ['^(?=.{1,5}$)[a-z.]+$', 'a.b', 'abcdef'],
    ['^(?!.*\\.\\.)[a-z.]+$', 'a.b', 'a..b'],
    ['(?<=\\$)\\d+$', '$12', '12'],
    ['(?<!-)b', 'ab', '-b'],
    ['(?<year>\\d{4})', '2026', '26'],
    ['^\\@\\_$', '@_', '@'],
    ['^\\p{Lu}\\P{Lu}$', 'Äb', 'ÄB'],
  ])('[LLM-4] %s matches %s and not %s', (source, good, bad) => {
    expect([matches(source, good), matches(source, bad)]).toEqual([true, false]);
  });

  it.each([
    ['(a)\\1', 'refers back to what it matched'],
    ['(?<n>a)\\k<n>', 'refers back to what it matched'],
    ['(?i:a)', 'changes its flags'],
    ['(', 'is not a regular expression'],
    ['(?P<n>a)', 'is not a regular expression'],
    ['a'.repeat(4_001), 'is too long'],
    ['('.repeat(120) + ')'.repeat(120), 'is nested too deep'],
    ['\\c1\\_', 'cannot be read'],
  ])('[LLM-4] %s is refused: it %s', (source, why) => {
    expect(() => matches(source, 'a')).toThrow(new ExpressionRefused(why));
  });

  it('[LLM-4] takes steps in proportion to the text', () => {
    const isEnough = (source: string, text: string, steps: number) => {
      try {
        return typeof matches(source, text, steps) === 'boolean';
      } catch (thrown) {
        if (thrown instanceof TooManySteps) return false;
        throw thrown;
      }
    };
    const stepsOf = (source: string, text: string) => {
      let least = 1;
      while (!isEnough(source, text, least)) least *= 1.1;
      return least;
    };
    for (const source of [
      '^(a+)+$',
      '(a|aa)+$',
      '(?=(a*)*b)(.*)*c',
      '(?<!(a+)+)b',
      '^(\\w+\\s?)*$',
    ]) {
      const short = stepsOf(source, `${'a'.repeat(2_000)}-`);
      const long = stepsOf(source, `${'a'.repeat(20_000)}-`);
      expect({ source, isLinear: long / short < 12 }).toEqual({ source, isLinear: true });
    }
  });
});
