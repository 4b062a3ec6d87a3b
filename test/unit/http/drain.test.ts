/** The shutdown of a gateway on one machine, as its Worker sees it. */
import { describe, expect, it } from 'vitest';
import { Drain, DRAIN_HEADER, DRAIN_PATH } from '../../../src/http/drain.ts';
import { BytesInFlight } from '../../../src/shared/limits/bytes-in-flight.ts';

const MIB = 1_048_576;
const flush = async () => {};
const LIMITS = { isolateBytes: MIB, principalBytes: MIB, waitMs: 100, stalledMs: 1_000 };

function ask(drain: Drain, ms: number, { method = 'POST', key = 'right', path = DRAIN_PATH } = {}) {
  const url = new URL(`http://127.0.0.1${path}?ms=${ms}`);
  return drain.answer(new Request(url, { method, headers: { [DRAIN_HEADER]: key } }), url);
}

describe('[OPS-3] [SEC-4] a drain', () => {
  it('accepts nothing more, and waits for running requests', async () => {
    const bytes = new BytesInFlight(LIMITS);
    const call = bytes.request('a');
    bytes.request('a', true);
    const drain = new Drain('right', bytes, flush);
    expect(() => drain.check()).not.toThrow();
    expect(await (await ask(drain, 0))?.json()).toEqual({ under_way: 1 });
    expect(() => drain.check()).toThrow('The gateway is stopping');
    const waiting = ask(drain, 60_000);
    call.release();
    expect(await (await waiting)?.json()).toEqual({ under_way: 0 });
  });

  it('[SEC-6] writes what is held in memory before it answers', async () => {
    const flushed: number[] = [];
    const drain = new Drain('right', new BytesInFlight(LIMITS), async ms => void flushed.push(ms));
    await ask(drain, 0);
    expect(flushed).toEqual([700]);
  });

  it('waits no longer than requested', async () => {
    const bytes = new BytesInFlight(LIMITS);
    bytes.request('a');
    expect(await (await ask(new Drain('right', bytes, flush), 60))?.json()).toEqual({
      under_way: 1,
    });
  });

  it.each([{ key: 'wrong' }, { key: '' }, { method: 'GET' }, { path: '/local/other' }])(
    'is not started by %j',
    asked => {
      const drain = new Drain('right', new BytesInFlight(LIMITS), flush);
      expect(ask(drain, 0, asked)).toBeUndefined();
      expect(() => drain.check()).not.toThrow();
    },
  );
});
