/** Qualified names: written in three styles, read with four separators, always unique, always reversible. */
import { describe, expect, it } from 'vitest';
import {
  parseQualifiedName,
  toQualifiedName,
  type NameStyle,
} from '../../../src/shared/naming/qualified-name.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';

const HOST_FORM = /^[A-Za-z0-9_-]{1,64}$/;
const PARTS = [
  'get',
  'set',
  '_',
  '__',
  '-',
  '.',
  ':',
  '/',
  ' ',
  'A',
  'a',
  '9',
  '\u00e9',
  '\u0435',
  '\u{1f600}',
  '\u200b',
  'list_all_items_of_the_collection',
];

const drawTool = (random: Random) =>
  Array.from({ length: 1 + random.below(6) }, () => random.pick(PARTS)).join('');
/** A valid server name. */
const drawServer = (random: Random) =>
  random.pick(['a', 'B', '7']) +
  Array.from({ length: random.below(20) }, () => random.pick(['a', 'b', '0', '_', '-', '__'])).join(
    '',
  );

it('[SEC-9] no server name longer than the bound is tried', () => {
  const longest = 'a'.repeat(63);
  expect(parseQualifiedName(`${longest}__t`)).toEqual([{ server: longest, tool: 't' }]);
  expect(parseQualifiedName(`${longest}a__t`)).toEqual([]);
});

describe('toQualifiedName', () => {
  it.each<[NameStyle, string]>([
    ['dot', 'github.create_issue'],
    ['colon', 'github:create_issue'],
    ['underscore', 'github__create_issue'],
  ])('[MCP-8] [AG-US7-AC1] in the style %s', (style, name) => {
    expect(toQualifiedName('github', 'create_issue', style)).toBe(name);
  });

  it('[MCP-8] dot and colon leave the name of the tool unchanged', () => {
    const tool = 'weird name/with:all.of\u00e9'.repeat(5);
    expect(toQualifiedName('a', tool, 'dot')).toBe(`a.${tool}`);
    expect(toQualifiedName('a', tool, 'colon')).toBe(`a:${tool}`);
  });

  it('[MCP-8] the underscore style has 64 characters at most, and is cut in the same way each time', () => {
    expect(toQualifiedName('a', 'x'.repeat(61), 'underscore')).toBe(`a__${'x'.repeat(61)}`);
    const cut = toQualifiedName('a', 'x'.repeat(62), 'underscore');
    expect(cut).toHaveLength(64);
    expect(cut).toMatch(/^a__x+_[0-9a-f]{8}$/);
    expect(toQualifiedName('a', 'x'.repeat(62), 'underscore')).toBe(cut);
    expect(toQualifiedName('a', 'x'.repeat(63), 'underscore')).not.toBe(cut);
    expect(toQualifiedName('s'.repeat(63), 'tool', 'underscore')).toMatch(HOST_FORM);
  });

  it.each(['a b', 'a.b', 'a/b', 'a:b', 'a\u00e9', '\u4e16\u754c', '\u{1f600}', 'a\n', '\ud800'])(
    '[MCP-8] the underscore style makes %j fit and keeps it distinct',
    tool => {
      const name = toQualifiedName('s', tool, 'underscore');
      expect(name).toMatch(HOST_FORM);
      expect(name).not.toBe(
        toQualifiedName('s', tool.replaceAll(/[^A-Za-z0-9_-]/gu, '_'), 'underscore'),
      );
    },
  );

  it(`[MCP-8] 10,000 names of the underscore style fit and are unique (seed ${SEED})`, () => {
    const random = createRandom();
    const servers = Array.from({ length: 20 }, () => drawServer(random));
    const given = new Set<string>();
    while (given.size < 10_000) given.add(JSON.stringify([random.pick(servers), drawTool(random)]));
    const named = new Map<string, string>();
    for (const pair of given) {
      const [server, tool] = JSON.parse(pair) as [string, string];
      const name = toQualifiedName(server, tool, 'underscore');
      expect(name).toMatch(HOST_FORM);
      // Two pairs may collide only where "__" in both parts reads the same: the catalog distinguishes those.
      const joined = `${server}__${tool}`;
      expect([name, named.get(name) ?? joined]).toEqual([name, joined]);
      named.set(name, joined);
    }
    expect(named.size).toBeGreaterThan(9_900);
  });

  it(`[MCP-8] long names that differ only at their end stay distinct (seed ${SEED})`, () => {
    const names = Array.from({ length: 10_000 }, (_, i) =>
      toQualifiedName('server', `${'long_prefix_'.repeat(6)}${i}`, 'underscore'),
    );
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('parseQualifiedName', () => {
  it.each([
    ['s.t', [['s', 't']]],
    ['s:t', [['s', 't']]],
    ['s/t', [['s', 't']]],
    ['s__t', [['s', 't']]],
    ['s.t.u', [['s', 't.u']]],
    ['s.t__u', [['s', 't__u']]],
    ['s:t.u', [['s', 't.u']]],
    ['s/t:u', [['s', 't:u']]],
    ['s.', [['s', '']]],
    ['s__', [['s', '']]],
    [
      'a__b__c',
      [
        ['a', 'b__c'],
        ['a__b', 'c'],
      ],
    ],
    [
      'a__b.c',
      [
        ['a__b', 'c'],
        ['a', 'b.c'],
      ],
    ],
    [
      'a___b',
      [
        ['a', '_b'],
        ['a_', 'b'],
      ],
    ],
    ['t', []],
    ['', []],
    ['.t', []],
    [':t', []],
    ['/t', []],
    ['a_b-c', []],
  ] as [string, [string, string][]][])('[MCP-8] [MCP-9] reads %j', (name, parts) => {
    expect(parseQualifiedName(name)).toEqual(parts.map(([server, tool]) => ({ server, tool })));
  });

  it(`[MCP-8] reads every name of the dot and colon style back, as the first candidate (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 1_500; round += 1) {
      const parts = { server: drawServer(random), tool: drawTool(random) };
      for (const style of ['dot', 'colon'] as const) {
        expect(parseQualifiedName(toQualifiedName(parts.server, parts.tool, style))[0]).toEqual(
          parts,
        );
      }
      expect(parseQualifiedName(`${parts.server}/${parts.tool}`)[0]).toEqual(parts);
      expect(parseQualifiedName(`${parts.server}__${parts.tool}`)).toContainEqual(parts);
    }
  });
});
