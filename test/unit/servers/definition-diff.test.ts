/** The differences between two definitions, field by field, with invisible characters made visible. */
import { describe, expect, it } from 'vitest';
import { diffDefinitions } from '../../../src/servers/approvals/definition-diff.ts';
import { createRandom, SEED } from '../seeded.ts';
import { createDefinition, mutate, rewrite } from './definitions.ts';

const value = (json: string, shown = json) => ({ json, shown });

describe('a diff', () => {
  it('[SEC-7] names each field that was added, removed or changed', () => {
    const before = '{"name":"a","description":"old","inputSchema":{"type":"object","x":[1,2]}}';
    const after =
      '{"inputSchema":{"type":"object","x":[1,3,4],"y":{}}, "name":"a","description":"o\u200bld"}';
    expect(diffDefinitions(before, after)).toEqual({
      changes: [
        {
          path: '/description',
          before: value('"old"', 'old'),
          after: value('"o\u200bld"', 'o⟨U+200B⟩ld'),
        },
        { path: '/inputSchema/x/1', before: value('2'), after: value('3') },
        { path: '/inputSchema/x/2', before: null, after: value('4') },
        { path: '/inputSchema/y', before: null, after: value('{}') },
      ],
      more: 0,
    });
  });

  it('[SEC-7] of a new definition lists each of its fields', () => {
    const { changes } = diffDefinitions(null, '{"name":"a","inputSchema":{"type":"object"}}');
    expect(changes.map(({ path, before }) => [path, before])).toEqual([
      ['/name', null],
      ['/inputSchema', null],
    ]);
  });

  it('[SEC-7] of instructions is their text', () => {
    expect(diffDefinitions('"be kind"', '"be kind\\u202e"').changes).toEqual([
      {
        path: '',
        before: value('"be kind"', 'be kind'),
        after: value('"be kind\\u202e"', 'be kind⟨U+202E⟩'),
      },
    ]);
  });

  it('[SEC-7] shows keys that differ in invisible characters, and special keys', () => {
    const { changes } = diffDefinitions('{"a":1}', '{"a\u200b":1,"__proto__":2,"x/y~":3}');
    expect(changes.map(({ path }) => path)).toEqual(['/a', '/a⟨U+200B⟩', '/__proto__', '/x~1y~0']);
  });

  it('[SEC-7] shows what differs in equal keys', () => {
    const before = '{"a":{"b":1,"b":2}}';
    const after = '{"a":{"b":3,"b":2}}';
    expect(diffDefinitions(before, after).changes).toEqual([
      { path: '/a', before: value('{"b":1,"b":2}'), after: value('{"b":3,"b":2}') },
    ]);
  });

  it('[SEC-7] [SEC-4] is bounded', () => {
    const list = (by: number) => JSON.stringify(Array.from({ length: 2_000 }, (_, i) => i + by));
    const { changes, more } = diffDefinitions(list(0), list(1));
    expect([changes.length, more]).toEqual([500, 1_500]);
    const nest = (inner: string) => `${'['.repeat(1_000)}${inner}${']'.repeat(1_000)}`;
    expect(diffDefinitions(nest('1'), nest('2')).changes).toHaveLength(1);
  });

  it(`[SEC-7] finds each of 300 mutations and no reordering (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 300; round += 1) {
      const before = createDefinition(random);
      const text = JSON.stringify(before);
      const { path, definition } = mutate(before, random);
      const { changes } = diffDefinitions(text, rewrite(definition, random));
      expect([path, changes.length > 0]).toEqual([path, true]);
      expect(changes.every(change => change.path.startsWith(`/${path[0]}`.slice(0, 2)))).toBe(true);
      expect(diffDefinitions(text, rewrite(before, random)).changes).toEqual([]);
    }
  });
});
