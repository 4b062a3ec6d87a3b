/** Channels between a test adapter and a test socket: which frames go out for which frames in. */
import type { HttpAnswer, HttpRequest } from '../../../cli/src/connect/http-message.ts';
import { describe, expect, it, vi } from 'vitest';
import { createChannels } from '../../../cli/src/connect/channels.ts';
import { OutboundFetch } from '../../../cli/src/connect/outbound-fetch.ts';
import type { HttpAdapter } from '../../../cli/src/connect/stdio-http.ts';
import * as frames from '../../../src/upstream/connector/frames.ts';
import { PATIENT } from '../../fixtures/patient.ts';

const CHUNK = 50_000;

/** Channels to one server `a`, and all frames that they send. */
function createStand(handle: HttpAdapter['handle']) {
  const sent: frames.Frame[] = [];
  const compose = {
    bufferedAmount: 0,
    send(data: Uint8Array<ArrayBuffer> | string) {
      const frame = typeof data === 'string' ? undefined : frames.parseFrame(data);
      if (frame) sent.push(frame);
    },
  };
  const channels = createChannels(new Map([['a', { handle }]]), new OutboundFetch(compose));
  const take = (bytes: Uint8Array) => {
    const frame = frames.parseFrame(bytes);
    return frame !== undefined && channels.take(frame);
  };
  const open = (id: number, more: Partial<frames.Payload<'open'>> = {}) =>
    take(frames.toJsonFrame('open', id, { server: 'a', method: 'POST', headers: {}, ...more }));
  const ask = (id: number, more: Partial<frames.Payload<'open'>> = {}) =>
    open(id, more) && take(frames.toFrame('end', id));
  const types = () => sent.map(({ type, channel }) => `${type} ${channel}`);
  return { channels, sent, take, open, ask, types };
}

async function* ofBytes(parts: number, onPart = () => {}): AsyncGenerator<Uint8Array> {
  for (let part = 0; part < parts; part += 1) {
    onPart();
    yield new Uint8Array(CHUNK);
  }
}

const answerOf = (body: AsyncIterable<Uint8Array>): HttpAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body,
});

describe('[CLI-1] a channel', () => {
  it('carries one request and one response', async () => {
    const requests: HttpRequest[] = [];
    const { channels, sent, take, open, types } = createStand(async request => {
      requests.push(request);
      return answerOf(ofBytes(2));
    });
    expect(open(7, { headers: { Accept: 'x' } })).toBe(true);
    for (const part of ['one ', 'two']) take(frames.toFrame('data', 7, Buffer.from(part)));
    expect(requests).toEqual([]);
    take(frames.toFrame('end', 7));
    await vi.waitFor(
      () => expect(types()).toEqual(['head 7', 'data 7', 'data 7', 'end 7']),
      PATIENT,
    );
    expect(requests).toMatchObject([{ method: 'POST', headers: { accept: 'x' } }]);
    expect(Buffer.from(requests[0]?.body ?? []).toString()).toBe('one two');
    expect(frames.parsePayload('head', sent[0]?.payload ?? new Uint8Array())).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
    });
    expect(channels.size).toBe(0);
    expect(requests[0]?.signal.aborted).toBe(false);
  });

  it('reads from its server no faster than the gateway takes data', async () => {
    let read = 0;
    const stand = createStand(async () => answerOf(ofBytes(100, () => (read += 1))));
    stand.ask(1);
    const window = Math.floor(frames.WINDOW_BYTES / CHUNK);
    await vi.waitFor(() => expect(stand.types()).toHaveLength(1 + window), PATIENT);
    expect(read).toBe(window + 1);
    stand.take(frames.toJsonFrame('credit', 1, { bytes: CHUNK }));
    await vi.waitFor(() => expect(stand.types()).toHaveLength(2 + window), PATIENT);
    expect(read).toBe(window + 2);
  });

  it('that is reset aborts its request, and sends nothing more', async () => {
    let signal: AbortSignal | undefined;
    const hasReturned = vi.fn<() => void>();
    const stand = createStand(async request => {
      ({ signal } = request);
      return answerOf(
        (async function* () {
          try {
            for (;;) yield new Uint8Array(CHUNK);
          } finally {
            hasReturned();
          }
        })(),
      );
    });
    stand.ask(1);
    await vi.waitFor(() => expect(stand.sent.length).toBeGreaterThan(20), PATIENT);
    const before = stand.sent.length;
    stand.take(frames.toJsonFrame('reset', 1, { code: 'cancelled', message: '' }));
    expect(signal?.aborted).toBe(true);
    await vi.waitFor(() => expect(hasReturned).toHaveBeenCalledOnce(), PATIENT);
    stand.take(frames.toJsonFrame('credit', 1, { bytes: CHUNK }));
    expect(stand.sent).toHaveLength(before);
    expect(stand.channels.size).toBe(0);
  });

  it('gives up on a server that never answers and ignores the abort', async () => {
    const stand = createStand(() => new Promise(() => {}));
    stand.ask(1);
    stand.take(frames.toJsonFrame('reset', 1, { code: 'cancelled', message: '' }));
    expect(stand.channels.size).toBe(0);
    expect(stand.sent).toEqual([]);
  });

  it.each<[string, HttpAdapter['handle']]>([
    ['throws', () => Promise.reject(new Error('secret'))],
    [
      'breaks off',
      async () =>
        answerOf(
          // oxlint-disable-next-line require-yield
          (async function* () {
            throw new Error('secret');
          })(),
        ),
    ],
    [
      'has too many headers',
      async () => ({ ...answerOf(ofBytes(1)), headers: { a: 'x'.repeat(70_000) } }),
    ],
  ])('whose server %s is reset, and the reason is not sent', async (_what, handle) => {
    const stand = createStand(handle);
    stand.ask(1);
    await vi.waitFor(() => expect(stand.types()).toContain('reset 1'), PATIENT);
    const payload = stand.sent.at(-1)?.payload ?? new Uint8Array();
    expect(frames.parsePayload('reset', payload)?.code).toBe('failed');
    expect(Buffer.from(payload).toString()).not.toContain('secret');
    expect(stand.channels.size).toBe(0);
  });
});

describe('[CLI-1] all channels', () => {
  const forever = () => new Promise<HttpAnswer>(() => {});
  const codeOf = ({ payload }: frames.Frame) => frames.parsePayload('reset', payload)?.code;

  it('are 10,000 at most', () => {
    const stand = createStand(forever);
    for (let id = 1; id <= 10_001; id += 1) expect(stand.open(id)).toBe(true);
    expect(stand.types()).toEqual(['reset 10001']);
    stand.channels.close();
    expect(stand.channels.size).toBe(0);
    expect(stand.open(1)).toBe(true);
  });

  it('keep 128 MiB of unfinished requests at most', () => {
    const stand = createStand(forever);
    const chunk = new Uint8Array(65_536);
    let id = 0;
    for (let kept = 0; kept < 2048; kept += 1) {
      if (kept % 64 === 0) stand.open((id += 1));
      stand.take(frames.toFrame('data', id, chunk));
    }
    expect(stand.sent).toEqual([]);
    stand.open(100);
    stand.take(frames.toFrame('data', 100, chunk));
    expect(stand.sent.map(codeOf)).toEqual(['too_large']);
    stand.take(frames.toFrame('end', 1));
    stand.open(101);
    stand.take(frames.toFrame('data', 101, chunk));
    expect(stand.sent).toHaveLength(1);
  });

  it('refuse frames that break the protocol', () => {
    const stand = createStand(forever);
    expect(stand.ask(1)).toBe(true);
    expect(stand.open(1)).toBe(false);
    expect(stand.open(0)).toBe(false);
    expect(stand.take(frames.toFrame('data', 1))).toBe(false);
    expect(stand.take(frames.toFrame('end', 1))).toBe(false);
    expect(stand.take(frames.toFrame('credit', 1))).toBe(false);
    expect(stand.take(frames.toFrame('open', 2))).toBe(false);
    for (const type of ['hello', 'welcome', 'head', 'news', 'bye'] as const) {
      expect(stand.take(frames.toFrame(type, 1))).toBe(false);
      expect(stand.take(frames.toFrame(type, 9))).toBe(false);
    }
  });

  it('accept late frames of a channel that has ended', () => {
    const stand = createStand(forever);
    expect(stand.take(frames.toFrame('data', 5))).toBe(true);
    expect(stand.take(frames.toFrame('end', 5))).toBe(true);
    expect(stand.take(frames.toJsonFrame('reset', 5, { code: 'cancelled', message: '' }))).toBe(
      true,
    );
    expect(stand.sent).toEqual([]);
  });

  it('that drain refuse new ones, end streams and wait for calls', async () => {
    const { promise, resolve } = Promise.withResolvers<HttpAnswer>();
    const stand = createStand(({ method }) =>
      method === 'GET' ? Promise.resolve(answerOf(waiting())) : promise,
    );
    stand.ask(1, { method: 'GET' });
    stand.ask(2);
    await vi.waitFor(() => expect(stand.types()).toEqual(['head 1']), PATIENT);
    const drained = vi.fn<() => void>();
    const draining = stand.channels.drain().then(drained);
    expect(stand.types()).toEqual(['head 1', 'end 1']);
    stand.ask(3);
    expect(stand.sent.slice(2).map(codeOf)).toEqual(['offline']);
    expect(drained).not.toHaveBeenCalled();
    resolve(answerOf(ofBytes(1)));
    await draining;
    expect(stand.types().slice(3)).toEqual(['head 2', 'data 2', 'end 2']);
  });
});

/** A stream that never yields. */
async function* waiting(): AsyncGenerator<Uint8Array> {
  await new Promise(() => {});
  yield new Uint8Array();
}
