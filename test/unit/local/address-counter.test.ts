/** The counter of requests per address and minute. */
import { expect, it } from 'vitest';
import { AddressCounter } from '../../../local/address-counter.ts';

it('[OPS-5] [ACC-6] lets a limited number pass per minute and address', () => {
  let now = 1_000_000;
  const counter = new AddressCounter(3, () => now);
  const take = (address: string) => [1, 2, 3, 4, 5].map(() => counter.take(address));
  expect(take('a')).toEqual([undefined, undefined, undefined, 60, 60]);
  now += 45_500;
  expect(take('b')).toEqual([undefined, undefined, undefined, 15, 15]);
  now += 14_500;
  expect(counter.take('a')).toBeUndefined();
});

it('[OPS-5] [ACC-6] counts anew if the clock is set back', () => {
  let now = 10_000_000;
  const counter = new AddressCounter(1, () => now);
  expect([counter.take('a'), counter.take('a')]).toEqual([undefined, 60]);
  now -= 3_600_000;
  expect([counter.take('a'), counter.take('a')]).toEqual([undefined, 60]);
});

it('[OPS-5] [ACC-6] without a limit lets all pass', () => {
  const counter = new AddressCounter(0);
  for (let asked = 0; asked < 10_000; asked++) expect(counter.take('a')).toBeUndefined();
});

it('[OPS-5] [SEC-9] counts addresses beyond its capacity as one, and keeps the counts of the others', () => {
  const counter = new AddressCounter(2, () => 1_000_000);
  counter.take('first');
  for (let at = 1; at < 50_000; at++) counter.take(`known-${at}`);
  expect([counter.take('x'), counter.take('y'), counter.take('z')]).toEqual([
    undefined,
    undefined,
    60,
  ]);
  expect([counter.take('first'), counter.take('first')]).toEqual([undefined, 60]);
});
