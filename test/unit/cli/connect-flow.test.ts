/** The parts that keep a connection within its bounds: backoff, flow control, the send queue, keep-alive, abortable waits. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBackoff } from '../../../cli/src/connect/backoff.ts';
import { FlowControl } from '../../../cli/src/connect/flow-control.ts';
import { startKeepAlive } from '../../../cli/src/connect/keep-alive.ts';
import { orAborted } from '../../../cli/src/connect/or-aborted.ts';
import { MOST_QUEUED_BYTES, OutboundFetch } from '../../../cli/src/connect/outbound-fetch.ts';
import { MAX_FRAME_BYTES, WINDOW_BYTES } from '../../../src/upstream/connector/frames.ts';
import { createRandom, SEED } from '../seeded.ts';
import { PATIENT } from '../../fixtures/patient.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('[CLI-1] backoff', () => {
  it('doubles from 0.2 s to 5 s', () => {
    const backoff = createBackoff(() => 1);
    const waits = Array.from({ length: 8 }, () => backoff.next(0));
    expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
  });

  it('is random between half and the whole interval', () => {
    expect(createBackoff(() => 0).next(0)).toBe(100);
    const { next } = createRandom();
    const backoff = createBackoff(next);
    for (let most = 200; most < 100_000; most *= 2) {
      const wait = backoff.next(0);
      expect(wait).toBeGreaterThanOrEqual(Math.min(most, 5_000) / 2);
      expect(wait).toBeLessThanOrEqual(Math.min(most, 5_000));
    }
  });

  it('is reset only by a good connection', () => {
    const backoff = createBackoff(() => 1);
    expect([0, 0, 9_999, 10_000, 0].map(livedMs => backoff.next(livedMs))).toEqual([
      200, 400, 800, 200, 400,
    ]);
  });
});

describe('[CLI-1] flow control', () => {
  it(`is never overdrawn, and never stuck (seed ${SEED})`, async () => {
    const random = createRandom();
    const flowControl = new FlowControl();
    let uncovered = 0;
    let sent = 0;
    const sizes = Array.from({ length: 400 }, () => 1 + random.below(65_536));
    const sending = (async () => {
      for (const size of sizes) {
        expect(await flowControl.take(size)).toBe(true);
        uncovered += size;
        sent += 1;
        expect(uncovered).toBeLessThanOrEqual(WINDOW_BYTES);
      }
    })();
    while (sent < sizes.length) {
      const covered = random.chance(0.2) ? uncovered : random.below(uncovered + 1);
      uncovered -= covered;
      flowControl.give(covered);
      await vi.advanceTimersByTimeAsync(0);
    }
    await sending;
  });

  it('holds one window at most, however much is granted', async () => {
    const flowControl = new FlowControl();
    flowControl.give(10 * WINDOW_BYTES);
    expect(await flowControl.take(WINDOW_BYTES)).toBe(true);
    const more = flowControl.take(1);
    await expect(Promise.race([more, Promise.resolve('waits')])).resolves.toBe('waits');
    flowControl.give(1);
    await expect(more).resolves.toBe(true);
  });

  it('gives nothing once closed', async () => {
    const flowControl = new FlowControl();
    await flowControl.take(WINDOW_BYTES);
    const waiting = flowControl.take(1);
    flowControl.close();
    await expect(waiting).resolves.toBe(false);
    await expect(flowControl.take(1)).resolves.toBe(false);
  });
});

/** A socket whose queue is emptied only by the test. */
function createWire() {
  const sent: number[] = [];
  const compose = {
    bufferedAmount: 0,
    send(data: Uint8Array<ArrayBuffer> | string) {
      compose.bufferedAmount += data.length;
      sent.push(typeof data === 'string' ? -1 : (data[0] ?? 0));
    },
  };
  return { compose, sent };
}

describe('[CLI-1] the send queue', () => {
  const frame = (mark: number) => new Uint8Array(MAX_FRAME_BYTES).fill(mark, 0, 1);
  const most = Math.floor(MOST_QUEUED_BYTES / MAX_FRAME_BYTES);
  const never = new AbortController().signal;

  it('holds 8 MiB at most, and continues in the order of those who wait', async () => {
    const { compose, sent } = createWire();
    const outboundFetch = new OutboundFetch(compose);
    const all = Array.from({ length: 200 }, (_, at) => outboundFetch.sendInTurn(frame(at), never));
    expect(sent).toHaveLength(most);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toHaveLength(most);
    compose.bufferedAmount -= 3 * MAX_FRAME_BYTES;
    await vi.advanceTimersByTimeAsync(10);
    expect(sent).toHaveLength(most + 3);
    compose.bufferedAmount = 0;
    await vi.advanceTimersByTimeAsync(10);
    await Promise.all(all);
    expect(sent).toEqual(Array.from({ length: 200 }, (_, at) => at));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('drops what nobody waits for any more, and everything when it is closed', async () => {
    const { compose, sent } = createWire();
    const outboundFetch = new OutboundFetch(compose);
    compose.bufferedAmount = MOST_QUEUED_BYTES;
    const gone = new AbortController();
    const waiting = [
      outboundFetch.sendInTurn(frame(1), gone.signal),
      outboundFetch.sendInTurn(frame(2), never),
    ];
    gone.abort();
    compose.bufferedAmount = 0;
    await vi.advanceTimersByTimeAsync(10);
    await Promise.all(waiting);
    expect(sent).toEqual([2]);
    compose.bufferedAmount = MOST_QUEUED_BYTES;
    const late = outboundFetch.sendInTurn(frame(3), never);
    outboundFetch.close();
    await late;
    outboundFetch.send('text');
    await outboundFetch.sendInTurn(frame(4), never);
    expect(sent).toEqual([2]);
    expect(outboundFetch).toMatchObject({ frames: 1, bytes: MAX_FRAME_BYTES });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('[CLI-1] keep-alive', () => {
  it('gives up after two pings without a sign of life', () => {
    const said: string[] = [];
    const say = (what: string) => () => void said.push(what);
    const keepAlive = startKeepAlive(100, say('ping'), say('dead'));
    vi.advanceTimersByTime(250);
    keepAlive.heard();
    vi.advanceTimersByTime(200);
    expect(said).toEqual(['ping', 'ping', 'ping', 'ping']);
    vi.advanceTimersByTime(1000);
    expect(said).toEqual(['ping', 'ping', 'ping', 'ping', 'dead']);
    keepAlive.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('[CLI-1] an abortable wait', () => {
  it('returns a value that comes in time', async () => {
    const late = vi.fn<(value: string) => void>();
    const { signal } = new AbortController();
    await expect(orAborted(Promise.resolve('a'), signal, late)).resolves.toEqual({ value: 'a' });
    expect(late).not.toHaveBeenCalled();
  });

  it('passes a late value to the clean-up function', async () => {
    const stopped = new AbortController();
    const { promise, resolve } = Promise.withResolvers<string>();
    const late = vi.fn<(value: string) => void>();
    const waiting = orAborted(promise, stopped.signal, late);
    stopped.abort();
    await expect(waiting).resolves.toBe('aborted');
    resolve('a');
    await vi.waitFor(() => expect(late).toHaveBeenCalledWith('a'), PATIENT);
    const failing = orAborted(Promise.reject(new Error('late')), stopped.signal);
    await expect(failing).resolves.toBe('aborted');
  });

  it('fails as the work does', async () => {
    const work = Promise.reject(new Error('broken'));
    await expect(orAborted(work, new AbortController().signal)).rejects.toThrow('broken');
  });
});
