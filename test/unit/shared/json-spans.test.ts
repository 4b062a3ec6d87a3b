/** Raw members and elements: cut out byte for byte as written. */
import { describe, expect, it } from 'vitest';
import {
  fromRawMembers,
  rawElements,
  rawMembers,
  withMembers,
} from '../../../src/shared/json/json-spans.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';

const ROUNDS = 1_500;
const SPACES = ['', '', ' ', '\t', '\n', '\r', ' \r\n\t '];
const SCALARS = [
  '1.0',
  '-0',
  '1e400',
  '-1E-400',
  '12345678901234567890',
  '0.1000000000000000055511151231257827',
  'true',
  'false',
  'null',
  '""',
  '"\\""',
  '"\\\\"',
  '"\\\\\\""',
  '"a\\/b\\u0000\\u2028\u2028"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\ud83d\ude00"',
  '"\\ud83d\\ude00"',
  '"}],:{["',
  '"\\"}"',
  '"\u00e9e\u0301\u200b\u202e\ufeff"',
];
const KEYS = [
  '"a"',
  '"b"',
  '""',
  '"__proto__"',
  '"constructor"',
  '"\\u0061"',
  '"a\\"b"',
  '"\\ud800"',
  '"{"',
];

/** A member as it was written. */
interface Written {
  key: string;
  value: string;
}

function writeValue(random: Random, depth: number): string {
  const kind = depth <= 0 ? 0 : random.below(3);
  if (kind === 0) return random.pick(SCALARS);
  const space = () => random.pick(SPACES);
  const size = random.below(4);
  if (kind === 1) {
    const elements = Array.from(
      { length: size },
      () => space() + writeValue(random, depth - 1) + space(),
    );
    return `[${elements.length === 0 ? space() : elements.join(',')}]`;
  }
  return writeObject(
    random,
    Array.from({ length: size }, () => writeMember(random, depth - 1)),
  );
}

function writeMember(random: Random, depth: number): Written {
  return { key: random.pick(KEYS), value: writeValue(random, depth) };
}

function writeObject(random: Random, members: readonly Written[]): string {
  const space = () => random.pick(SPACES);
  const texts = members.map(
    ({ key, value }) => space() + key + space() + ':' + space() + value + space(),
  );
  return `{${texts.length === 0 ? space() : texts.join(',')}}`;
}

/** How a JSON parser treats equal keys: the last one counts. */
function lastOfEach(members: readonly Written[]): Map<string, string> {
  return new Map(members.map(({ key, value }) => [JSON.parse(key) as string, value]));
}

describe('rawMembers', () => {
  it(`[MCP-7] returns every value as it was written (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < ROUNDS; round += 1) {
      const members = Array.from({ length: random.below(6) }, () => writeMember(random, 4));
      const text = random.pick(SPACES) + writeObject(random, members) + random.pick(SPACES);
      expect([text, rawMembers(text)]).toEqual([text, lastOfEach(members)]);
    }
  });

  it(`[MCP-7] changes one member and no other (seed ${SEED})`, () => {
    const random = createRandom(SEED + 1);
    for (let round = 0; round < ROUNDS; round += 1) {
      const members = Array.from({ length: 1 + random.below(5) }, () => writeMember(random, 3));
      const before = rawMembers(writeObject(random, members));
      const changed = random.pick([...before.keys()]);
      const text = fromRawMembers(new Map(before).set(changed, '"changed"'));
      const after = rawMembers(text);
      expect([text, [...after.keys()]]).toEqual([text, [...before.keys()]]);
      for (const [key, value] of after) {
        expect([text, value]).toEqual([text, key === changed ? '"changed"' : before.get(key)]);
      }
    }
  });

  it(`[MCP-7] agrees with JSON.parse (seed ${SEED})`, () => {
    const random = createRandom(SEED + 2);
    for (let round = 0; round < ROUNDS; round += 1) {
      const members = Array.from({ length: random.below(6) }, () => writeMember(random, 3));
      const text = writeObject(random, members);
      const parsed = [...rawMembers(text)].map(([key, value]) => [
        key,
        JSON.parse(value) as unknown,
      ]);
      expect([text, Object.fromEntries(parsed)]).toEqual([
        text,
        Object.fromEntries(Object.entries(JSON.parse(text) as object)),
      ]);
    }
  });

  it.each([
    ['{"n":1.0}', '1.0'],
    ['{"n":-0}', '-0'],
    ['{"n":1e400}', '1e400'],
    ['{"n":12345678901234567890}', '12345678901234567890'],
    ['\r\n\t {\n"n"\t:\r 7 \n}\n', '7'],
    ['{"n":1,"n":2}', '2'],
    ['{"\\u006e":"escaped key"}', '"escaped key"'],
    ['{"n":"ends in a backslash\\\\"}', '"ends in a backslash\\\\"'],
    ['{"n":[{"n":"]}"}]}', '[{"n":"]}"}]'],
  ])('[MCP-7] reads n of %j', (text, value) => {
    expect(rawMembers(text).get('n')).toBe(value);
  });

  it.each(
    `1 true null "" "abc" [] [1] [{"a":1}] {"a" {"a": {"a":1 {"a":1, {"abc {"a\\ {a:1} {1:2} {, {"a":[ {"a":{"b`.split(
      ' ',
    ),
  )('refuses %s, which is no object, and terminates', text => {
    expect(() => rawMembers(text)).toThrow(SyntaxError);
  });

  it('[MCP-7] treats __proto__ as a key like any other', () => {
    const members = rawMembers('{"__proto__":{"polluted":1},"a":2}');
    expect([...members]).toEqual([
      ['__proto__', '{"polluted":1}'],
      ['a', '2'],
    ]);
    expect(fromRawMembers(members)).toBe('{"__proto__":{"polluted":1},"a":2}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('[SEC-4] does not recurse into nested values', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(rawMembers(`{"deep":${deep},"after":1}`).get('deep')).toBe(deep);
    expect(rawMembers(`{"deep":${deep},"after":1}`).get('after')).toBe('1');
  });

  it('reads an object without members', () => {
    expect(rawMembers(' { } ').size).toBe(0);
    expect(fromRawMembers(new Map())).toBe('{}');
  });
});

describe('rawElements', () => {
  it(`[MCP-7] returns every element in order (seed ${SEED})`, () => {
    const random = createRandom(SEED + 3);
    for (let round = 0; round < ROUNDS; round += 1) {
      const values = Array.from({ length: random.below(6) }, () => writeValue(random, 3));
      const padded = values.map(value => random.pick(SPACES) + value + random.pick(SPACES));
      const text = `${random.pick(SPACES)}[${padded.length === 0 ? random.pick(SPACES) : padded.join(',')}]`;
      expect([text, rawElements(text)]).toEqual([text, values]);
    }
  });

  it.each(`1 true null "" {} {"a":1} [ [1 [1, ["a [[ [{"a":[1]`.split(' '))(
    'refuses %s, which is no array, and terminates',
    text => {
      expect(() => rawElements(text)).toThrow(SyntaxError);
    },
  );
});

describe('withMembers', () => {
  it(`[MCP-7] replaces members of the same keys, adds the others, and leaves the rest (seed ${SEED})`, () => {
    const random = createRandom(SEED + 4);
    for (let round = 0; round < ROUNDS; round += 1) {
      const members = Array.from({ length: random.below(4) }, () => writeMember(random, 3));
      const text = random.pick(SPACES) + writeObject(random, members) + random.pick(SPACES);
      const more = random.below(2) === 0 ? { a: 'x"y', c: 'z' } : { c: 'z' };
      const wanted = lastOfEach(members);
      for (const [key, value] of Object.entries(more)) wanted.set(key, JSON.stringify(value));
      const made = withMembers(text, more);
      expect(JSON.parse(made)).toEqual(JSON.parse(fromRawMembers(wanted)));
      expect([text, rawMembers(made)]).toEqual([text, wanted]);
    }
  });
});
