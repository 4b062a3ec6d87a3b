/** Cursors: opaque, bound to their list and filter; any other text is refused. */
import { expect, it } from 'vitest';
import { toBase64Url } from '../../../src/shared/crypto/base64url.ts';
import { MAX_CURSOR_CHARS, parseCursor, toCursor } from '../../../src/shared/util/cursor.ts';
import { toListPage } from '../../../src/shared/util/page.ts';

const LIST = ['servers', { status: 'ERROR' }];

it('[REG-2] returns the position to the list and filter that it was made for', async () => {
  for (const position of [['ünïcode'], [1_700_000_000_000, 'id'], []]) {
    expect(await parseCursor(LIST, await toCursor(LIST, position))).toEqual(position);
  }
});

it('[REG-2] returns nothing for another list or filter', async () => {
  const cursor = await toCursor(LIST, ['a']);
  expect(await parseCursor(['tokens', { status: 'ERROR' }], cursor)).toBeUndefined();
  expect(await parseCursor(['servers', {}], cursor)).toBeUndefined();
});

it.each([
  ['nothing', ''],
  ['no base64url', '?!'],
  ['no JSON', toBase64Url(new Uint8Array([255, 254]))],
  ['no list', toBase64Url(new TextEncoder().encode('{"a":1}'))],
  ['a list without a digest', toBase64Url(new TextEncoder().encode('["x","a"]'))],
  ['too much', 'A'.repeat(MAX_CURSOR_CHARS + 1)],
])('[REG-2] does not accept %s as a cursor', async (_what, text) => {
  expect(await parseCursor(LIST, text)).toBeUndefined();
});

it('[REG-2] a position contains only texts and numbers', async () => {
  const cursor = await toCursor(LIST, [['nested'] as unknown as string]);
  expect(await parseCursor(LIST, cursor)).toBeUndefined();
});

it('[REG-2] a page ends at the limit, and has a cursor only if more follow', () => {
  const positionOf = (item: string) => [item];
  expect(toListPage(['a', 'b', 'c'], 2, positionOf)).toEqual({ items: ['a', 'b'], next: ['b'] });
  expect(toListPage(['a', 'b'], 2, positionOf)).toEqual({ items: ['a', 'b'] });
  expect(toListPage([], 2, positionOf)).toEqual({ items: [] });
});
