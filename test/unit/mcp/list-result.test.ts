/** Pages of lists as clients get them: the first one is as large as allowed, since some clients read no other. */
import type { ListedItem, Listing } from '../../../src/gateway/listing.ts';
import { describe, expect, it } from 'vitest';
import { rawMembers } from '../../../src/shared/json/json-spans.ts';
import { listResult } from '../../../src/mcp/reply/list-result.ts';

const PAGE_SIZE = 5_000;
const MAX_BYTES = 8_388_608;

/** A tool whose definition has about this many bytes. */
function toolOf(index: number, bytes = 0): ListedItem {
  const name = `t${index}`;
  const description = 'é'.repeat(bytes / 2);
  const raw = rawMembers(JSON.stringify({ name, description, inputSchema: { type: 'object' } }));
  return { name: `s.${name}`, server: { id: 's', name: 's' }, item: { key: name, raw } };
}

interface Page {
  tools: { name: string }[];
  nextCursor?: string;
}

/** Every page, with its size. */
function pagesOf(items: readonly ListedItem[], era: 'legacy' | 'modern') {
  const list: Listing = { items, ttlMs: 0, isWhole: true };
  const pages: { names: string[]; bytes: number }[] = [];
  let cursor: string | undefined;
  do {
    const made = listResult(list, 'tools', cursor, PAGE_SIZE, era);
    const page = JSON.parse(new TextDecoder().decode(made)) as Page;
    pages.push({ names: page.tools.map(({ name }) => name), bytes: made.byteLength });
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

describe.each(['legacy', 'modern'] as const)('a page for a %s client', era => {
  it('[MCP-4] [UP-5] has up to 5,000 tools', () => {
    const items = Array.from({ length: 5_001 }, (_, i) => toolOf(i));
    expect(pagesOf(items, era).map(({ names }) => names.length)).toEqual([5_000, 1]);
    expect(pagesOf(items.slice(1), era).map(({ names }) => names.length)).toEqual([5_000]);
  });

  it('[MCP-4] [SEC-4] has up to 8 MiB, and at least one tool', () => {
    const items = [3_000_000, 3_000_000, 3_000_000, 10_000_000, 10, 9_000_000].map((bytes, i) =>
      toolOf(i, bytes),
    );
    const pages = pagesOf(items, era);
    expect(pages.map(({ names }) => names)).toEqual([
      ['s.t0', 's.t1'],
      ['s.t2'],
      ['s.t3'],
      ['s.t4'],
      ['s.t5'],
    ]);
    for (const { names, bytes } of pages) {
      expect(names.length === 1 || bytes < MAX_BYTES).toBe(true);
    }
  });
});

describe('pages', () => {
  const large = toolOf(0, 7_000_000);
  const listOf = (name: string): Listing => ({
    items: [{ ...large, name }],
    ttlMs: 0,
    isWhole: true,
  });
  const pageOf = (list: Listing) => listResult(list, 'tools', undefined, PAGE_SIZE, 'modern');

  it('[EDGE-3] [SEC-4] are cached up to a bound of bytes, for all lists together', () => {
    const [a, b, c] = [listOf('a'), listOf('b'), listOf('c')];
    const pages = [a, b].map(pageOf);
    expect([a, b].map(pageOf).every((page, i) => page === pages[i])).toBe(true);
    const third = pageOf(c);
    // The least recently used one was dropped.
    expect([pageOf(c) === third, pageOf(b) === pages[1], pageOf(a) === pages[0]]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('[MCP-4] of an incomplete list are not cached', () => {
    const [whole, other] = [true, false].map(isWhole => ({
      items: [toolOf(0)],
      ttlMs: 0,
      isWhole,
    }));
    const isSame = (list: Listing | undefined) => list && pageOf(list) === pageOf(list);
    expect([isSame(whole), isSame(other)]).toEqual([true, false]);
  });
});
