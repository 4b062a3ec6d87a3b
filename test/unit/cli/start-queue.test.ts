/** The queue of starting programs: a bounded number at once, in order, and none delayed for ever. */
import { afterEach, expect, it, vi } from 'vitest';
import { StartQueue } from '../../../cli/src/connect/start-queue.ts';

afterEach(() => vi.useRealTimers());

/** Begins this many at once. @returns the `end` functions of those that have their turn by now, in order */
function beginAll(queue: StartQueue, count: number, signal = new AbortController().signal) {
  const ends: (() => void)[] = [];
  for (let i = 0; i < count; i += 1) void queue.begin(signal).then(end => ends.push(end));
  return ends;
}
/** The queue on a busy machine: one processor is left to others. */
const busy = (processors: number) => new StartQueue({ processors, areIdle: () => false });
const settle = () => new Promise(resolve => setImmediate(resolve));

it('[CLI-3] gives a bounded number of turns at once, and the next when one ends', async () => {
  const ends = beginAll(busy(3), 5);
  for (let ended = 0; ended < 5; ended += 1) {
    await settle();
    expect(ends).toHaveLength(Math.min(5, ended + 2));
    // The second call has no effect.
    ends[ended]?.();
    ends[ended]?.();
  }
});

it('[CLI-3] takes the turn away from a slow program', async () => {
  vi.useFakeTimers();
  const queue = busy(2);
  const ends = beginAll(queue, 3);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(ends).toHaveLength(2);
  // Its late end frees no second turn.
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(ends).toHaveLength(3);
});

it('[CLI-3] lets a stopped program leave at once, and loses no turn by it', async () => {
  const queue = busy(2);
  const [first] = [await queue.begin(new AbortController().signal)];
  const stopping = new AbortController();
  const stopped = beginAll(queue, 1, stopping.signal);
  const after = beginAll(queue, 1);
  stopping.abort();
  await settle();
  expect([stopped.length, after.length]).toEqual([1, 0]);
  stopped[0]?.();
  await settle();
  expect(after).toHaveLength(0);
  first?.();
  await settle();
  expect(after).toHaveLength(1);
});

it('[CLI-3] [UP-5] leaves a processor to the gateway, and still starts with only one', async () => {
  const counts = [1, 2, 4].map(processors => beginAll(busy(processors), 9));
  await settle();
  expect(counts.map(({ length }) => length)).toEqual([1, 1, 3]);
});

it('[CLI-3] starts more while the processors are idle, up to a bound', async () => {
  vi.useFakeTimers();
  let areIdle = false;
  const ends = beginAll(new StartQueue({ processors: 2, areIdle: () => areIdle }), 20);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ends).toHaveLength(1);
  areIdle = true;
  await vi.advanceTimersByTimeAsync(250);
  expect(ends).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(ends).toHaveLength(4);
  areIdle = false;
  // While more than the usual number have a turn, an end frees none.
  for (const end of ends.slice(0, 3)) end();
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toHaveLength(4);
  ends[3]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toHaveLength(5);
});

it('[CLI-3] checks the processors only while a program waits', async () => {
  vi.useFakeTimers();
  const areIdle = vi.fn<() => boolean>(() => false);
  const ends = beginAll(new StartQueue({ processors: 1, areIdle }), 2);
  await vi.advanceTimersByTimeAsync(500);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  const asked = areIdle.mock.calls.length;
  expect(asked).toBeGreaterThan(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([ends.length, areIdle.mock.calls.length]).toEqual([2, asked]);
});
