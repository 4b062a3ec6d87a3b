/** While the page is visible the console gets changes from a stream, and polls if there is none. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { beginLive, LIVE_MS, liveMs, TOLD_MS } from '../../../console/src/api/live.ts';

/** A stream of the gateway, controlled by the test. */
interface Stream {
  tell(type: string, data: unknown): void;
  end(): Promise<void>;
  signal: AbortSignal;
}

let streams: Stream[] = [];
let asked: string[] = [];
let page: EventTarget & { hidden: boolean };
let end = () => {};

/** Everything that events refresh. */
const ALL = [
  'servers',
  'approvals',
  'tools',
  'explain',
  'rules,list',
  'toolsets,list',
  'budgets',
].toSorted();

/** Lets pending promises settle. */
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  [streams, asked] = [[], []];
  page = Object.assign(new EventTarget(), { hidden: false });
  end = beginLive({
    cache: { invalidateQueries: ({ queryKey }) => void asked.push(queryKey.join()) },
    page,
    async listen(signal, tell) {
      const over = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => over.reject(signal.reason));
      const close = async () => {
        over.resolve();
        await settle();
      };
      streams.push({ signal, tell, end: close });
      return over.promise;
    },
  });
});

afterEach(() => {
  end();
  vi.useRealTimers();
});

it('[OPS-1] polls rarely while the stream is open, reloads what changed, or all after a gap, and polls often after the stream ended', async () => {
  expect([streams.length, liveMs()]).toEqual([0, LIVE_MS]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([streams.length, liveMs()]).toEqual([1, LIVE_MS]);
  streams[0]?.tell('watching', {});
  expect([liveMs(), asked.toSorted()]).toEqual([TOLD_MS, ALL]);
  asked.length = 0;
  streams[0]?.tell('changed', { changed: ['access'] });
  expect(asked).toEqual(['rules,list', 'toolsets,list', 'budgets', 'explain']);
  asked.length = 0;
  await streams[0]?.end();
  expect([liveMs(), asked.toSorted(), streams.length]).toEqual([LIVE_MS, ALL, 1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(streams.length).toBe(2);
  expect(liveMs()).toBe(LIVE_MS);
});

it('[OPS-1] retries at growing intervals if no stream can be opened', async () => {
  await vi.advanceTimersByTimeAsync(1_000);
  for (const waits of [1_000, 2_000, 4_000]) {
    const before = streams.length;
    await streams.at(-1)?.end();
    await vi.advanceTimersByTimeAsync(waits - 1);
    expect([waits, streams.length]).toEqual([waits, before]);
    await vi.advanceTimersByTimeAsync(1);
    expect([waits, streams.length]).toEqual([waits, before + 1]);
  }
  expect(asked).toEqual([]);
});

it('[OPS-1] holds no stream while the page is hidden, and opens one when it becomes visible', async () => {
  await vi.advanceTimersByTimeAsync(1_000);
  streams[0]?.tell('watching', {});
  page.hidden = true;
  page.dispatchEvent(new Event('visibilitychange'));
  await vi.advanceTimersByTimeAsync(100_000);
  expect([streams.length, streams[0]?.signal?.aborted, liveMs()]).toEqual([1, true, LIVE_MS]);
  page.hidden = false;
  page.dispatchEvent(new Event('visibilitychange'));
  await settle();
  expect(streams.length).toBe(2);
  end();
  await vi.advanceTimersByTimeAsync(100_000);
  expect([streams.length, streams[1]?.signal?.aborted]).toEqual([2, true]);
});
