/** The bucket compared with a model that counts millisecond by millisecond, and consequences of its rules. */
import { describe, expect, it } from 'vitest';
import { refill, type Bucket, type Limit } from '../../../src/audit/limits/token-bucket.ts';
import { drawLease } from '../../../src/audit/limits/token-lease.ts';
import { createRandom, SEED } from '../seeded.ts';

/** Takes a token from a bucket for a waiting call. */
function draw(held: Bucket | undefined, limit: Limit, now: number) {
  const limits = [{ name: '', ...limit }];
  const { buckets, lease } = drawLease([held], { limits, waiting: 1, ahead: 0 }, now);
  const { retryAfterMs } = lease;
  return retryAfterMs === undefined ? { bucket: buckets[0] } : { retryAfterMs };
}

/** A bucket that is simulated for every millisecond: from the first draw on, a step ends every `stepMs` milliseconds. */
class Model {
  readonly limit: Limit;
  #tokens: number;
  #step = 0;
  #left = 0;

  constructor(limit: Limit) {
    this.limit = limit;
    this.#tokens = limit.burst;
  }

  /** Advances time by one millisecond. */
  tick(): void {
    if (this.#tokens >= this.limit.burst) return;
    this.#left -= 1;
    if (this.#left > 0) return;
    this.#tokens = Math.min(this.limit.burst, this.#tokens + this.#step);
    this.#left = this.stepMs;
  }

  get stepMs(): number {
    this.#step = Math.min(this.limit.perMinute, this.limit.burst);
    return (60_000 / this.limit.perMinute) * this.#step;
  }

  /** @returns milliseconds to wait, 0 if a token was drawn */
  draw(): number {
    if (this.#tokens >= this.limit.burst) this.#left = this.stepMs;
    if (this.#tokens < 1) return this.#left;
    this.#tokens -= 1;
    return 0;
  }
}

describe('a token bucket', () => {
  it(`[ACC-6] agrees with a model that counts every millisecond (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 60; round += 1) {
      // A step is a whole number of milliseconds, as in the model.
      const limit = {
        perMinute: random.pick([1, 2, 6, 60, 600, 6_000]),
        burst: 1 + random.below(40),
      };
      const model = new Model(limit);
      let bucket: Bucket | undefined;
      let now = 1_000_000;
      for (let n = 0; n < 300; n += 1) {
        const wait = random.chance(0.7) ? random.below(3) : random.below(4_000);
        for (let ms = 0; ms < wait; ms += 1) model.tick();
        now += wait;
        const drawn = draw(bucket, limit, now);
        const expected = model.draw();
        expect([limit, n, 'retryAfterMs' in drawn ? drawn.retryAfterMs : 0]).toEqual([
          limit,
          n,
          expected,
        ]);
        if ('bucket' in drawn) bucket = drawn.bucket;
      }
    }
  });

  it('[ACC-6] allows exactly its limit in the minute after the first call', () => {
    const limit = { perMinute: 100, burst: 100 };
    let bucket: Bucket | undefined;
    const waits: number[] = [];
    for (let now = 0; now < 60_000; now += 30) {
      const drawn = draw(bucket, limit, now);
      if ('bucket' in drawn) bucket = drawn.bucket;
      else waits.push(drawn.retryAfterMs);
    }
    expect(waits).toEqual(Array.from({ length: 1_900 }, (_, i) => 60_000 - (100 + i) * 30));
    expect(draw(bucket, limit, 60_000)).toEqual({ bucket: { tokens: 99, countedTo: 60_000 } });
  });

  it('[ACC-6] returns a time after which there is a token', () => {
    const random = createRandom(SEED + 1);
    for (let round = 0; round < 500; round += 1) {
      const limit = { perMinute: 1 + random.below(5_000), burst: 1 + random.below(300) };
      const bucket = { tokens: random.next() * 0.99, countedTo: random.below(100_000) };
      const now = bucket.countedTo + random.below(100_000);
      const drawn = draw(bucket, limit, now);
      if ('bucket' in drawn) continue;
      expect(drawn.retryAfterMs).toBeGreaterThan(0);
      expect(draw(bucket, limit, now + Math.ceil(drawn.retryAfterMs))).toHaveProperty('bucket');
    }
  });

  it('[ACC-6] gives nothing if the clock goes back, and never exceeds its burst', () => {
    const limit = { perMinute: 60, burst: 2 };
    const empty = { tokens: 0, countedTo: 10_000_000 };
    expect(draw(empty, limit, 5_000)).toEqual({ retryAfterMs: 2_000 });
    expect(refill(empty, limit, 10_000_000 + 86_400_000)).toBeUndefined();
    expect(refill({ tokens: 9, countedTo: 0 }, limit, 0)).toBeUndefined();
  });
});

describe('a bucket of a day', () => {
  const DAY_MS = 86_400_000;
  const limit: Limit = { perMinute: 0, burst: 3, isDaily: true };

  it(`[ACC-6] gives its burst between two midnights, whatever the times of the calls (seed ${SEED})`, () => {
    const random = createRandom();
    let bucket: Bucket | undefined;
    let now = 20_000 * DAY_MS;
    const passed = new Map<number, number>();
    const refusals: unknown[] = [];
    for (let n = 0; n < 2_000; n += 1) {
      now += random.below(DAY_MS / 5);
      const day = Math.floor(now / DAY_MS);
      const drawn = draw(bucket, limit, now);
      const count = passed.get(day) ?? 0;
      if (drawn.retryAfterMs === undefined) {
        bucket = drawn.bucket;
        passed.set(day, count + 1);
      } else {
        const isAtMidnight = now + drawn.retryAfterMs === (day + 1) * DAY_MS;
        refusals.push(isAtMidnight && count === limit.burst);
      }
    }
    expect(refusals.length).toBeGreaterThan(100);
    expect(new Set(refusals)).toEqual(new Set([true]));
    expect(Math.max(...passed.values())).toBe(limit.burst);
    expect(passed.size).toBeGreaterThan(150);
  });

  it('[ACC-6] carries no debt into the next day', () => {
    const day = 20_000 * DAY_MS;
    const overdrawn = { tokens: -30, countedTo: day };
    expect(draw(overdrawn, limit, day + 1)).toEqual({ retryAfterMs: DAY_MS - 1 });
    expect(draw(overdrawn, limit, day + DAY_MS)).toEqual({
      bucket: { tokens: 2, countedTo: day + DAY_MS },
    });
  });
});
