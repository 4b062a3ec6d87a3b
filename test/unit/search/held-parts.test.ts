/** Parts of the index in memory: bounded in bytes, and a part in use is never displaced. */
import { expect, it } from 'vitest';
import { HeldParts } from '../../../src/search/index/held-parts.ts';

const ofBytes = (byteLength: number) => new Int8Array(byteLength);
const hold = (maxBytes: number) =>
  new HeldParts<Int8Array>(maxBytes, ({ byteLength }) => byteLength);

it('[FIND-1] [EDGE-3] parts are held up to a bound, and unused ones make room', () => {
  const held = hold(100);
  const [a, b, c] = [ofBytes(60), ofBytes(40), ofBytes(50)];
  expect([held.set('a', a, 0), held.set('b', b, 0)]).toEqual([true, true]);
  // Both are in use: there is no room for a third, and neither is dropped.
  expect(held.set('c', c, 59_999)).toBe(false);
  expect([held.get('a', 59_999), held.get('b', 0), held.get('c', 0)]).toEqual([a, b, undefined]);
  // By now only the first is in use.
  expect(held.set('c', c, 60_000)).toBe(false);
  expect(held.set('d', ofBytes(40), 60_000)).toBe(true);
  expect([held.get('a', 60_000), held.get('b', 60_000)]).toEqual([a, undefined]);
  expect(held.set('c', c, 200_000)).toBe(true);
  expect([held.get('a', 200_000), held.get('c', 200_000)]).toEqual([undefined, c]);
  expect(held.set('e', ofBytes(101), 900_000)).toBe(false);
});

it('[FIND-1] [EDGE-3] a part that is read twice at once is held once', () => {
  const held = hold(100);
  const first = ofBytes(60);
  held.set('a', first, 0);
  held.set('a', ofBytes(60), 0);
  expect(held.get('a', 0)).toBe(first);
  expect(held.set('b', ofBytes(40), 0)).toBe(true);
});
