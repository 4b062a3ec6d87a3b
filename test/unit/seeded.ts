/**
 * Random values for tests that can be replayed: the seed is fixed, is part of the title of each test that uses it, and can be replaced by
 * PORTICO_TEST_SEED. Where the cases take long, a run draws a part of them: `npm test` a fifth, `npm run test:fast` a tenth; `npm run
 * test:whole` draws all.
 */

/** Seed of this run. */
export const SEED = Number(process.env['PORTICO_TEST_SEED'] ?? 20260728);

/** The part of many slow cases that this run draws: a fifth, unless PORTICO_TEST_SHARE sets another. */
const SHARE = Number(process.env['PORTICO_TEST_SHARE'] ?? 0.2);

/** How many of `whole` cases this run draws; at least one. */
export const drawn = (whole: number): number => Math.max(1, Math.ceil(whole * SHARE));

/** A source of random values. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Integer from 0 to `limit - 1`. */
  below(limit: number): number;
  pick<T>(values: readonly T[]): T;
  chance(probability: number): boolean;
}

/** The values of one seed (mulberry32). */
export function createRandom(seed = SEED): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    pick<T>(values: readonly T[]): T {
      if (values.length === 0) throw new RangeError('nothing to pick from');
      return values[below(values.length)] as T;
    },
    chance: probability => next() < probability,
  };
}
