/** When a signed assertion counts (RFC 7523 §3): now, and not for long, since each is remembered until it is over. Pure. */

const SKEW_S = 60;
/** Longest time that an assertion may be good for, in seconds. */
const MAX_LIFE_S = 300;

/** In seconds since the epoch. */
export interface AssertionTimes {
  exp: number;
  nbf?: number | undefined;
  iat?: number | undefined;
}

/** Why an assertion does not count now; undefined where it does. @param now milliseconds since the epoch */
export function whyNotNow({ exp, nbf, iat }: AssertionTimes, now: number): string | undefined {
  const seconds = now / 1000;
  if (exp <= seconds - SKEW_S) return 'has expired';
  if (exp > seconds + MAX_LIFE_S + SKEW_S) return `is good for more than ${MAX_LIFE_S} s`;
  const isOfLater = [nbf, iat].some(at => at !== undefined && at > seconds + SKEW_S);
  return isOfLater ? 'is of the future' : undefined;
}

/** Until when it could be used again, in milliseconds since the epoch. */
export const usableUntil = ({ exp }: AssertionTimes): number => Math.ceil((exp + SKEW_S) * 1000);
