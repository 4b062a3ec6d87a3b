/** The time that one call may take. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Reports progress every 50 ms, after a server request that is answered in `answerMs`. @returns milliseconds until the call ends */
function run(answerMs: number): number {
  const deadline = createDeadline(100);
  const startedAt = Date.now();
  while (!deadline.signal.aborted && Date.now() - startedAt < 60_000) {
    const answered = deadline.hold(10_000);
    vi.advanceTimersByTime(answerMs);
    answered();
    deadline.restart();
    vi.advanceTimersByTime(50);
  }
  deadline.release();
  return Date.now() - startedAt;
}

it('[UP-3] ends at the ceiling, however often the server asks and reports progress', () => {
  expect(run(0)).toBe(1_000);
});

it('[UP-3] does not count the time in which the server waits for a person', () => {
  expect(run(200)).toBe(20 * (200 + 50));
});

it('[UP-3] counts the waits of two server requests at once only once', () => {
  const deadline = createDeadline(100);
  const answers = [deadline.hold(10_000), deadline.hold(10_000)];
  vi.advanceTimersByTime(500);
  for (const answered of answers) answered();
  for (let at = 0; at < 950; at += 50) {
    vi.advanceTimersByTime(50);
    deadline.restart();
  }
  expect(deadline.signal.aborted).toBe(false);
  vi.advanceTimersByTime(50);
  expect(deadline.signal.aborted).toBe(true);
  deadline.release();
});

it('[UP-3] ends by itself, even if the server always asks again before its last request is answered', () => {
  const startedAt = Date.now();
  const deadline = createDeadline(100);
  let answered = deadline.hold(1_000);
  for (let at = 0; at < 60_000 && !deadline.signal.aborted; at += 500) {
    vi.advanceTimersByTime(500);
    const next = deadline.hold(1_000);
    answered();
    answered = next;
  }
  expect(deadline.signal.aborted).toBe(true);
  expect(Date.now() - startedAt).toBe(10_000);
  deadline.release();
});
