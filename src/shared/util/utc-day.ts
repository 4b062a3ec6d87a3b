/** UTC days. Pure. */

export const DAY_MS = 86_400_000;

/** Returns the UTC day of a time, counted since the epoch. */
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);

/** Returns the day of a time: `2026-11-23`. @param at milliseconds since the epoch */
export const toDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Returns when the day of a time ends, in milliseconds since the epoch. */
export const endOfDay = (at: number): number => at - (at % DAY_MS) + DAY_MS;

/** Returns the day that is this many days earlier. */
export const dayBefore = (day: string, days: number): string =>
  toDay(Date.parse(day) - days * DAY_MS);
