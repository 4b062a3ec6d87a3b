/** JSON within bounds. */
import { describe, expect, it } from 'vitest';
import { checkBounds, JsonPastBounds, parseWithin } from '../../../src/shared/json/json-spans.ts';
import { leastCostOf } from '../hostile-texts.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';

const BOUNDS = { maxDepth: 4, maxMembers: 10 };
const WIDE = { maxDepth: 1_000_000, maxMembers: 100_000_000 };

const isWithin = (text: string, bounds = BOUNDS): boolean => {
  try {
    checkBounds(text, bounds);
    return true;
  } catch (error) {
    if (error instanceof JsonPastBounds) return false;
    throw error;
  }
};

describe('a JSON text', () => {
  it.each([
    ['[[[[]]]]', true],
    ['[[[[[]]]]]', false],
    ['{"a":{"b":[{}]}}', true],
    ['{"a":{"b":[{"c":[]}]}}', false],
    ['[[],[],[],[]]        ', true],
    ['[1,2,3,4,5,6,7,8,9,0]', true],
    ['[1,2,3,4,5,6,7,8,9,0,1]', false],
    ['["[[[[[[[[[[","{{{{{{{",",,,,,,,,,,,,,,"]', true],
    [String.raw`["\"[[[[[[[[[[","\\",[[[]]]]`, true],
    [String.raw`["\\",[[[[[[[]]]]]]]`, false],
    ['"[[[[[[[[[[[[[[[[', true],
    [']]]]]]]]]]]]]]]]]', true],
    ['"\\', true],
    ['', true],
  ])('[SEC-9] is within 4 levels and 10 members or not: %s', (text, expected) => {
    expect(isWithin(text)).toBe(expected);
  });

  it(`[SEC-9] is counted as JSON.parse reads it in 500 random texts, seed ${SEED}`, () => {
    const random = createRandom(SEED);
    for (let i = 0; i < 500; i += 1) {
      const value = randomValue(random, 6);
      const text = JSON.stringify(value, undefined, random.pick([0, 1]));
      const [depth, members] = measure(value);
      expect(isWithin(text, { maxDepth: depth, maxMembers: WIDE.maxMembers })).toBe(true);
      const isSeen = depth > 0 && text.length > 2 * depth - 2;
      const shallower = { maxDepth: depth - 1, maxMembers: WIDE.maxMembers };
      expect(isSeen && isWithin(text, shallower)).toBe(false);
      // An object or an array itself counts at most one more than its contents.
      expect(isWithin(text, { maxDepth: 0, maxMembers: 0 })).toBe(text.length === 0 || depth === 0);
      expect(isWithin(text, { maxDepth: WIDE.maxDepth, maxMembers: members + 1 })).toBe(true);
    }
  });

  it('[SEC-9] of 100,000 levels is refused before it is parsed', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const text = `${open.repeat(100_000)}1${close.repeat(100_000)}`;
      expect(() => parseWithin(text)).toThrow(JsonPastBounds);
      expect(() => parseWithin(open.repeat(100_000))).toThrow(JsonPastBounds);
    }
    expect(() => parseWithin(`[${'{},'.repeat(2_000_000)}{}]`)).toThrow(JsonPastBounds);
    expect(() => parseWithin('[1')).toThrow(SyntaxError);
  });

  it('[SEC-9] is counted in linear time, with any contents', () => {
    for (const unit of ['"', '\\', '"\\', '\\"', '""', '[', '{"', ',', '"a\\\\"']) {
      const text = unit.repeat(2_000_000 / unit.length);
      const cost = leastCostOf(() => isWithin(text, WIDE), 250);
      expect([unit, cost < 1_000]).toEqual([unit, true]);
    }
  });
});

function randomValue(random: Random, depth: number): unknown {
  if (depth === 0 || random.chance(0.3)) {
    return random.pick<unknown>([
      1,
      -0.5,
      true,
      null,
      '',
      '"',
      '\\',
      '\\"[{,',
      '[[,,]]',
      'é\u2028',
    ]);
  }
  const many = Array.from({ length: random.below(5) }, () => randomValue(random, depth - 1));
  return random.chance(0.5)
    ? many
    : Object.fromEntries(many.map((value, i) => [`${random.pick(['k', '"', ','])}${i}`, value]));
}

/** Depth, and the number of members and elements, plus one for each nested value. */
function measure(value: unknown): [depth: number, members: number] {
  if (typeof value !== 'object' || value === null) return [0, 0];
  const parts = Object.values(value).map(measure);
  const deepest = Math.max(0, ...parts.map(([depth]) => depth));
  return [deepest + 1, parts.reduce((sum, [, members]) => sum + members, parts.length || 1)];
}
