/** Pages of a list that may change between two of them. */
import { describe, expect, it } from 'vitest';
import { pageOf } from '../../../src/gateway/page.ts';
import { createRandom, SEED } from '../seeded.ts';

interface Item {
  name: string;
  server: { name: string };
}

const item = (server: string, name: string): Item => ({
  name: `${server}.${name}`,
  server: { name: server },
});
const listOf = (...pairs: [string, string][]) => pairs.map(([server, name]) => item(server, name));
const namesOf = (items: readonly Item[]) => items.map(({ name }) => name);

/** All pages of an unchanged list. */
function readAll(list: readonly Item[], pageSize: number): string[][] {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = pageOf(list, cursor, pageSize);
    pages.push(namesOf(page.items));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

const abc = listOf(['a', '1'], ['a', '2'], ['b', '1'], ['b', '2'], ['C', '1']);

it('[SEC-4] arbitrary text is no cursor, even with valid characters', () => {
  const cursor = Buffer.from('"ab"').toString('base64url');
  expect(() => pageOf(abc, cursor, 2)).toThrow('The cursor is not valid');
});

describe('pageOf', () => {
  it('[MCP-4] returns every item once, in order', () => {
    for (let pageSize = 1; pageSize <= 6; pageSize += 1) {
      const pages = readAll(abc, pageSize);
      expect([`pages of ${pageSize}`, pages.flat()]).toEqual([
        `pages of ${pageSize}`,
        namesOf(abc),
      ]);
      expect(pages).toHaveLength(Math.ceil(5 / pageSize));
    }
    expect(readAll([], 3)).toEqual([[]]);
  });

  it('[MCP-4] returns no cursor after the last item', () => {
    expect(pageOf(abc, undefined, 5).nextCursor).toBeUndefined();
    expect(pageOf(abc, undefined, 4).nextCursor).toBeDefined();
  });

  const cursor = pageOf(abc, undefined, 2).nextCursor;

  it.each<[string, Item[], string[]]>([
    ['nothing changes', abc, ['b.1', 'b.2', 'C.1']],
    ['a tool before it is added', [item('a', '0'), ...abc], ['b.1', 'b.2', 'C.1']],
    ['a tool before it is removed', abc.slice(1), ['b.1', 'b.2', 'C.1']],
    [
      'a tool after it is added',
      listOf(['a', '1'], ['a', '2'], ['a', '3'], ['b', '1']),
      ['a.3', 'b.1'],
    ],
    ['the tool it ends with is gone', listOf(['a', '1'], ['b', '1'], ['C', '1']), ['b.1', 'C.1']],
    ['its server is gone', abc.slice(2), ['b.1', 'b.2', 'C.1']],
    ['everything is gone', [], []],
    ['all later servers are gone', listOf(['a', '1']), []],
  ])('[MCP-4] a cursor stays valid when %s', (_what, list, names) => {
    expect(namesOf(pageOf(list, cursor, 10).items)).toEqual(names);
  });

  it(`[MCP-4] nothing that stays is left out or repeated, whatever else changes (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 500; round += 1) {
      const servers = ['a', 'B', 'c', 'D', 'e'];
      const all = servers.flatMap(server =>
        Array.from({ length: 1 + random.below(6) }, (_, i) => item(server, String(i))),
      );
      const whole = new Set(random.chance(0.5) ? servers : [random.pick(servers)]);
      let list = all;
      const seen: string[] = [];
      let next: string | undefined;
      do {
        const page = pageOf(list, next, 1 + random.below(4));
        seen.push(...namesOf(page.items));
        next = page.nextCursor;
        // Servers appear and disappear as a whole, as when they connect and disconnect.
        const gone = random.pick([...servers, '']);
        list = all.filter(({ server }) => whole.has(server.name) || server.name !== gone);
      } while (next !== undefined);
      expect([`round ${round}`, new Set(seen).size]).toEqual([`round ${round}`, seen.length]);
      const stayed = namesOf(all.filter(({ server }) => whole.has(server.name)));
      expect([`round ${round}`, seen.filter(name => stayed.includes(name))]).toEqual([
        `round ${round}`,
        stayed,
      ]);
    }
  });

  it.each([
    '',
    ' ',
    'x',
    '0',
    'null',
    btoa('null'),
    btoa('[]'),
    btoa('["a"]'),
    btoa('["a",1]'),
    btoa('[1,"a"]'),
    btoa('{"0":"a","1":"b"}'),
    btoa('{"1":"b"}'),
    btoa('[1,2]'),
    btoa('{"a":1}'),
    '***',
    'A'.repeat(5_000),
  ])('[MCP-4] [SEC-4] refuses the cursor %j', foreign => {
    expect(() => pageOf(abc, foreign, 2)).toThrow(
      expect.objectContaining({ code: 'invalid_params' }),
    );
  });

  it('[MCP-4] ends before an item that does not fit, but has at least one item', () => {
    const page = (names: string[], first?: string) =>
      pageOf(abc, first, 10, ({ name }) => !names.includes(name));
    expect(namesOf(page(['b.1']).items)).toEqual(['a.1', 'a.2']);
    expect(namesOf(page(['a.2', 'b.1']).items)).toEqual(['a.1']);
    const none = page(['a.1', 'a.2']);
    expect(namesOf(none.items)).toEqual(['a.1']);
    expect(namesOf(page(['a.2'], none.nextCursor).items)).toEqual(['a.2', 'b.1', 'b.2', 'C.1']);
  });

  it('[MCP-4] [SEC-9] reads cursors of 32,768 characters, and no longer ones', () => {
    const cursorOf = (chars: number) =>
      Buffer.from(JSON.stringify(['a', 'x'.repeat(chars)])).toString('base64url');
    const most = cursorOf((32_768 * 3) / 4 - 8);
    expect(most).toHaveLength(32_768);
    expect(namesOf(pageOf(abc, most, 9).items)).toEqual(['b.1', 'b.2', 'C.1']);
    expect(() => pageOf(abc, cursorOf((32_768 * 3) / 4 - 7), 9)).toThrow(
      expect.objectContaining({ code: 'invalid_params' }),
    );
  });
});
