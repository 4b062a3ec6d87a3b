/** Ids that sort by their time. */
import { expect, it } from 'vitest';
import { firstIdAt, timeOfId, toTimeId } from '../../../src/shared/util/time-id.ts';

const AT = Date.UTC(2026, 10, 24, 2, 0, 0, 123);

it('contains its time, and is unique', () => {
  const ids = Array.from({ length: 1_000 }, () => toTimeId(AT));
  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) {
    // Version 7 and variant of RFC 9562.
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(timeOfId(id)).toBe(AT);
  }
});

it('sorts in the order of creation within one time, and between ids of other isolates', () => {
  for (let at = AT; at < AT + 20; at += 1) {
    const ids = Array.from({ length: 1_000 }, () => [toTimeId(at), toTimeId(at + 1_000)]);
    for (const side of [0, 1]) {
      const made = ids.map(pair => pair[side]);
      expect(made.toSorted()).toEqual(made);
    }
  }
});

it('sorts by time', () => {
  const times = [0, 1, 255, 65_535, 65_536, 4_294_967_296, AT - 1, AT, AT + 1, 2 ** 48 - 1];
  const ids = times.map(toTimeId);
  expect(ids.toSorted()).toEqual(ids);
  expect(ids.map(timeOfId)).toEqual(times);
});

it('has a first id of each time', () => {
  for (let i = 0; i < 1_000; i += 1) {
    const id = toTimeId(AT);
    expect(id >= firstIdAt(AT)).toBe(true);
    expect(id < firstIdAt(AT + 1)).toBe(true);
  }
});

it('is distinguished from other ids', () => {
  expect(timeOfId(crypto.randomUUID())).toBeUndefined();
  expect(timeOfId('')).toBeUndefined();
  expect(timeOfId(`${toTimeId(AT)}x`)).toBeUndefined();
});
