/** Large bodies at their client's pace: every byte, not before it is requested, and given up if the client never takes them. */
import { describe, expect, it, vi } from 'vitest';
import { pacedResponse, slicesOf } from '../../../src/http/paced-body.ts';
import { createRandom, SEED } from '../seeded.ts';

/** Counts what a body holds and releases. */
function createHolder(stalledMs = 60_000) {
  const holder = { held: 0, released: 0, stalledMs, retain };
  function retain() {
    holder.held += 1;
    let isHeld = true;
    return () => {
      if (isHeld) holder.released += 1;
      isHeld = false;
    };
  }
  return holder;
}

const LARGE = 'x'.repeat(1_000_000);
const whole = (slices: Iterable<Uint8Array>) => Buffer.concat([...slices]).toString();
const init = { headers: { 'content-type': 'application/json' } };

describe('[SEC-9] a paced body', () => {
  it(`consists of its parts, with any characters (seed ${SEED})`, () => {
    const random = createRandom();
    const letters = ['a', 'é', '漢', '😀', '\n'];
    for (let round = 0; round < 20; round += 1) {
      const parts = Array.from({ length: 1 + random.below(4) }, () =>
        Array.from({ length: random.below(90_000) }, () => random.pick(letters)).join(''),
      );
      expect(whole(slicesOf(parts)) === parts.join('')).toBe(true);
    }
  });

  it('is written at once if it is small, and holds nothing', async () => {
    const holder = createHolder();
    const response = pacedResponse(['{"a":', '1}'], init, holder);
    expect(await response.text()).toBe('{"a":1}');
    expect(holder.held).toBe(0);
  });

  it('holds its parts until it has been written', async () => {
    const holder = createHolder();
    const reader = pacedResponse([LARGE, LARGE], init, holder).body?.getReader();
    let bytes = 0;
    for (;;) {
      const step = await reader?.read();
      if (!step || step.done) break;
      expect(holder.released).toBe(0);
      bytes += step.value.byteLength;
    }
    expect([bytes, holder.held, holder.released]).toEqual([2_000_000, 1, 1]);
  });

  it('is given up when its client disconnects', async () => {
    const holder = createHolder();
    const body = pacedResponse([LARGE], init, holder).body;
    const reader = body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(holder.released).toBe(1);
  });

  it('is given up when its client reads nothing for too long, and not while it reads', async () => {
    vi.useFakeTimers();
    try {
      const holder = createHolder(1_000);
      const reader = pacedResponse([LARGE], init, holder).body?.getReader();
      for (let slice = 0; slice < 5; slice += 1) {
        await reader?.read();
        await vi.advanceTimersByTimeAsync(900);
      }
      expect(holder.released).toBe(0);
      await vi.advanceTimersByTimeAsync(200);
      expect(holder.released).toBe(1);
      await expect(reader?.read()).rejects.toThrow('takes nothing');
    } finally {
      vi.useRealTimers();
    }
  });
});
