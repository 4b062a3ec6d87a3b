/**
 * The time for which a signed assertion is valid (RFC 7523 §3). It must be short, since each assertion is remembered until it expires.
 * Pure.
 */

const SKEW_S = 60;
/** Longest lifetime of an assertion, in seconds. */
const MAX_LIFE_S = 300;

/** In seconds since the epoch. */
export interface AssertionTimes {
  exp: number;
  nbf?: number | undefined;
  iat?: number | undefined;
}

/** Returns why an assertion is not valid now; undefined if it is. @param now milliseconds since the epoch */
export function whyNotNow({ exp, nbf, iat }: AssertionTimes, now: number): string | undefined {
  const seconds = now / 1000;
  if (exp <= seconds - SKEW_S) return 'has expired';
  if (exp > seconds + MAX_LIFE_S + SKEW_S) return `is good for more than ${MAX_LIFE_S} s`;
  const isOfLater = [nbf, iat].some(at => at !== undefined && at > seconds + SKEW_S);
  return isOfLater ? 'is dated in the future' : undefined;
}

/** Returns until when the assertion could be replayed, in milliseconds since the epoch. */
export const usableUntil = ({ exp }: AssertionTimes): number => Math.ceil((exp + SKEW_S) * 1000);
