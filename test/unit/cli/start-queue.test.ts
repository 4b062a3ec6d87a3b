/** Turns of programs that start: so many at once, in order, and none held up for good. */
import { afterEach, expect, it, vi } from 'vitest';
import { StartQueue } from '../../../cli/src/connect/start-queue.ts';

afterEach(() => vi.useRealTimers());

/** Begins so many at once. @returns the ends of those that have their turn by now, in order */
function beginAll(queue: StartQueue, count: number, signal = new AbortController().signal) {
  const ends: (() => void)[] = [];
  for (let i = 0; i < count; i += 1) void queue.begin(signal).then(end => ends.push(end));
  return ends;
}
const settle = () => new Promise(resolve => setImmediate(resolve));

it('[CLI-3] gives so many turns at once, and the next as one ends', async () => {
  const ends = beginAll(new StartQueue(2), 5);
  for (let ended = 0; ended < 5; ended += 1) {
    await settle();
    expect(ends).toHaveLength(Math.min(5, ended + 2));
    // To end twice is to end once.
    ends[ended]?.();
    ends[ended]?.();
  }
});

it('[CLI-3] takes the turn of one that is slow away', async () => {
  vi.useFakeTimers();
  const queue = new StartQueue(1);
  const ends = beginAll(queue, 3);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(ends).toHaveLength(2);
  // Its late end gives no second turn away.
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(ends).toHaveLength(3);
});

it('[CLI-3] lets one that stops go at once, and loses no turn by it', async () => {
  const queue = new StartQueue(1);
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
