/** Random whole numbers that are equal in each run (mulberry32). */

/** @returns a function that returns numbers from 0 to below its argument */
export function createSource(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return limit => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}
