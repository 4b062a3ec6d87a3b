/** The bound of bytes in memory: requests are refused, wait, and release their bytes, also at random. */
import { describe, expect, it, vi } from 'vitest';
import {
  BytesInFlight,
  SMALL_BYTES,
  type RequestBytes,
} from '../../../src/shared/limits/bytes-in-flight.ts';
import { LIMIT_SETTINGS, toByteLimits } from '../../../src/shared/limits/limit-settings.ts';
import { parsedWeight } from '../../../src/shared/json/json-weight.ts';
import { z } from 'zod';
import { createRandom, SEED } from '../seeded.ts';

const MIB = 1_048_576;
const LIMITS = { isolateBytes: 64 * MIB, principalBytes: 48 * MIB, waitMs: 200, stalledMs: 1_000 };
/** The share for large requests: the rest is for small ones. */
const LARGE = 7 / 8;
const create = (more: Partial<typeof LIMITS> = {}) => new BytesInFlight({ ...LIMITS, ...more });

describe('[SEC-9] bodies in flight', () => {
  it('are refused beyond the limit of a principal, and accepted again once there is room', () => {
    const bytes = create();
    const held = Array.from({ length: 10 }, () => bytes.request('p'));
    held.forEach(request => request.takeBody(4 * MIB));
    const one = bytes.request('p');
    expect(() => one.takeBody(4 * MIB)).toThrow(
      expect.objectContaining({ code: 'busy', extras: { retryAfterSeconds: 1 } }),
    );
    held[0]?.release();
    one.takeBody(4 * MIB);
    expect(bytes.used).toBe(10 * 4 * MIB);
    for (const request of [...held, one]) request.release();
    expect([bytes.used, bytes.open]).toEqual([0, 0]);
  });

  it('of one principal leave room for those of another', () => {
    const bytes = create();
    bytes.request('a').takeBody(LIMITS.principalBytes * LARGE);
    expect(bytes.request('a').take(MIB)).toBe(false);
    expect(bytes.request('b').take(8 * MIB)).toBe(true);
  });

  it('that are small pass when large ones do not', () => {
    const bytes = create();
    bytes.request('a').takeBody(LIMITS.principalBytes * LARGE);
    bytes.request('b').take(14 * MIB);
    expect(bytes.request('b').take(SMALL_BYTES + 1)).toBe(false);
    expect(bytes.request('a').take(SMALL_BYTES)).toBe(true);
    expect(bytes.request('c').take(SMALL_BYTES)).toBe(true);
  });

  it('that can never fit are too large, not busy', () => {
    const bytes = create();
    const tooLarge = expect.objectContaining({ code: 'payload_too_large' });
    expect(() => bytes.request('a').takeBody(LIMITS.principalBytes)).toThrow(tooLarge);
    const many = `[${'{},'.repeat(100_000)}{}]`;
    expect(() => bytes.request('a').takeParsed(many, 1 * MIB)).toThrow(tooLarge);
    bytes.request('a').takeParsed(`"${'x'.repeat(300_000)}"`, 1 * MIB);
  });

  it('count their parsed form until it is dropped', () => {
    const bytes = create();
    const request = bytes.request('a');
    const text = `[${'{},'.repeat(20_000)}{}]`;
    request.takeBody(text.length);
    request.takeParsed(text, 8 * MIB);
    expect(bytes.used).toBe(text.length + parsedWeight(text));
    request.dropParsed();
    request.dropParsed();
    expect(bytes.used).toBe(text.length);
    request.release();
    expect(bytes.used).toBe(0);
  });
});

describe('[SEC-9] responses in flight', () => {
  it('wait for room, in order of arrival', async () => {
    const bytes = create({ waitMs: 60_000 });
    const [first, second, third] = Array.from({ length: 3 }, () => bytes.request('p'));
    first?.takeBody(40 * MIB);
    const order: number[] = [];
    const waiting = [
      second?.wait(20 * MIB)?.then(() => order.push(2)),
      third?.wait(20 * MIB)?.then(() => order.push(3)),
    ];
    expect(order).toEqual([]);
    first?.release();
    await Promise.all(waiting);
    expect(order).toEqual([2, 3]);
  });

  it('fail if there is no room in time, or never can be', async () => {
    const bytes = create({ waitMs: 1 });
    bytes.request('p').takeBody(40 * MIB);
    const late = bytes.request('p');
    await expect(late.wait(4 * MIB)).rejects.toMatchObject({ code: 'upstream_no_room' });
    expect(() => late.wait(LIMITS.principalBytes)).toThrow(
      expect.objectContaining({ code: 'upstream_too_large' }),
    );
    expect(bytes.used).toBe(40 * MIB);
  });

  it('stop waiting with the call', async () => {
    const bytes = create({ waitMs: 60_000 });
    bytes.request('p').takeBody(40 * MIB);
    const controller = new AbortController();
    const waiting = bytes.request('p').wait(4 * MIB, false, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('of unknown length never deadlock', async () => {
    vi.useFakeTimers();
    try {
      const bytes = create({ waitMs: 60_000 });
      const done: number[] = [];
      const read = async (n: number) => {
        const request = bytes.request('p');
        await request.wait(SMALL_BYTES, true);
        await request.wait(MIB - SMALL_BYTES, true);
        await request.wait(15 * MIB, false);
        done.push(n);
        await new Promise(resolve => setTimeout(resolve, 10));
        request.release();
      };
      const all = Promise.all(Array.from({ length: 100 }, (_, n) => read(n)));
      await vi.advanceTimersByTimeAsync(59_000);
      await all;
      expect(done).toHaveLength(100);
      expect([bytes.used, bytes.open]).toEqual([0, 0]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('[SEC-9] the count', () => {
  it(`is what open requests hold, and zero after them (seed ${SEED})`, () => {
    const random = createRandom();
    const bytes = create();
    const open = new Map<RequestBytes, (() => void)[]>();
    /** Results of uses after a release. */
    const over = new Set<number | boolean>();
    const releases = (request: RequestBytes) => [() => request.release()];
    for (let step = 0; step < 20_000; step += 1) {
      const request = random.pick([...open.keys(), undefined]);
      if (!request) {
        if (open.size >= 40) continue;
        const fresh = bytes.request(random.pick(['a', 'b', 'c']));
        open.set(fresh, releases(fresh));
        continue;
      }
      const owners = open.get(request) ?? [];
      const choice = random.below(6);
      if (choice === 0) request.take(random.below(4 * MIB), random.chance(0.5));
      if (choice === 1) request.give(random.below(4 * MIB));
      if (choice === 2) owners.push(request.retain());
      if (choice === 3) request.settle();
      if (choice === 4) request.dropParsed();
      if (choice === 5) {
        const release = owners.splice(random.below(owners.length), 1)[0];
        release?.();
        if (owners.length === 0) {
          open.delete(request);
          over.add(request.held).add(request.take(1));
        }
      }
      const held = [...open.keys()].reduce((sum, { held: own }) => sum + own, 0);
      expect(bytes.used).toBe(held);
      expect(held).toBeLessThanOrEqual(LIMITS.isolateBytes);
    }
    for (const owners of open.values()) owners.forEach(release => release());
    expect([bytes.used, bytes.open]).toEqual([0, 0]);
    expect(over).toEqual(new Set([0, false]));
    // Nothing is left that would restrict later requests.
    expect(bytes.request('a').take(LIMITS.principalBytes * LARGE)).toBe(true);
  });

  it('is released once, however often its last owner releases', () => {
    const bytes = create();
    const request = bytes.request('a');
    const other = bytes.request('a');
    const release = request.retain();
    request.take(10);
    other.take(5);
    release();
    release();
    request.release();
    request.release();
    expect([bytes.used, bytes.open]).toEqual([5, 1]);
  });

  it('knows which requests will end by themselves', () => {
    const bytes = new BytesInFlight(LIMITS);
    const [call, stream] = [bytes.request('a'), bytes.request('a', true)];
    expect([bytes.open, bytes.underWay]).toEqual([2, 1]);
    call.release();
    call.release();
    expect([bytes.open, bytes.underWay]).toEqual([1, 0]);
    stream.release();
    expect([bytes.open, bytes.underWay]).toEqual([0, 0]);
  });
});

describe('[SEC-9] the weight of a JSON text', () => {
  it('counts values, but not the contents of strings', () => {
    expect(parsedWeight('"a,b{c[d"')).toBe(9 + 16);
    expect(parsedWeight('"\\",{"')).toBe(6 + 16);
    expect(parsedWeight('[{},{}]')).toBe(7 + 3 * 32 + 16);
  });

  it('ends on any text', () => {
    for (const text of ['', '"', '"\\', '"\\"', '[[[', '{"a', '\\\\"'.repeat(1_000)]) {
      expect(parsedWeight(text)).toBeGreaterThanOrEqual(text.length);
    }
  });
});

describe('[SEC-9] the settings', () => {
  const limits = (env: object, isLocal: boolean) =>
    toByteLimits(z.object(LIMIT_SETTINGS).parse(env), isLocal);

  it('give an isolate at the edge less than a machine, and a principal three quarters', () => {
    expect(limits({}, false)).toMatchObject({ isolateBytes: 64 * MIB, principalBytes: 48 * MIB });
    expect(limits({}, true)).toMatchObject({ isolateBytes: 256 * MIB, principalBytes: 192 * MIB });
  });

  it('give a principal no more than there is', () => {
    const env = {
      PORTICO_BYTES_IN_FLIGHT: '8388608',
      PORTICO_PRINCIPAL_BYTES_IN_FLIGHT: '99999999',
    };
    expect(limits(env, true).principalBytes).toBe(8 * MIB);
  });
});
