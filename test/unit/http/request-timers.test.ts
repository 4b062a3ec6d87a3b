/** Many timers of one request over one timer of the platform. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RequestTimers } from '../../../src/http/deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  // First: a spy on a fake timer that is restored later would put the fake one back, for the files after this one too.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it('[EDGE-1] sets one platform timer for a call that ends soon, and leaves none behind', () => {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const timers = new RequestTimers();
  const act = vi.fn<() => void>();
  const taken = [250, 1_000, 30_000].map(ms => timers.set(ms, act));
  for (const takeBack of taken) takeBack();
  expect(set).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60_000);
  expect(act).not.toHaveBeenCalled();
});

it('fires on time, in whatever order timers are set, cleared and set by each other', () => {
  const timers = new RequestTimers();
  const told: string[] = [];
  const startedAt = Date.now();
  const tell = (name: string) => () => told.push(`${name} ${Date.now() - startedAt}`);
  timers.set(1_000, tell('second'));
  timers.set(250, tell('first'));
  timers.set(1_000, () => {
    tell('third')();
    timers.set(100, tell('later'));
  });
  const takeBack = timers.set(500, tell('never'));
  takeBack();
  takeBack();
  timers.set(30_000, tell('last'));
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual(['first 250', 'second 1000', 'third 1000', 'later 1100', 'last 30000']);
  expect(vi.getTimerCount()).toBe(0);
});

it('fires the other timers if one throws, also at the same time', () => {
  const timers = new RequestTimers();
  const act = vi.fn<() => void>();
  timers.set(10, () => {
    throw new Error('one');
  });
  timers.set(10, act);
  timers.set(20, act);
  expect(() => vi.advanceTimersByTime(15)).toThrow('one');
  expect(act).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(15);
  expect(act).toHaveBeenCalledTimes(2);
});
