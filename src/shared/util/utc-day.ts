/** Days of UTC. Pure. */

export const DAY_MS = 86_400_000;

/** The day (UTC) of a time, counted since the epoch. */
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);

/** The day of a time: `2026-11-23`. @param at milliseconds since the epoch */
export const toDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** When the day of a time ends, in milliseconds since the epoch. */
export const endOfDay = (at: number): number => at - (at % DAY_MS) + DAY_MS;

/** The day so many days before. */
export const dayBefore = (day: string, days: number): string =>
  toDay(Date.parse(day) - days * DAY_MS);
