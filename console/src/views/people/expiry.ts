/** The expiry of a new token. Pure. */

const DAY_MS = 86_400_000;

export const EXPIRIES = [
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['day', 'On a day'],
  ['never', 'Never'],
] as const;
export type Expiry = (typeof EXPIRIES)[number][0];

/**
 * The time to send to the API; undefined: never.
 * @param day for `day`, like `2027-01-31`: the token is valid until the end of that day in the reader's time zone
 * @param now milliseconds since the epoch
 */
export function toExpiresAt(expiry: Expiry, day: string, now: number): string | undefined {
  if (expiry === 'never') return undefined;
  if (expiry !== 'day') return new Date(now + Number(expiry) * DAY_MS).toISOString();
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  return new Date(year, month - 1, date + 1).toISOString();
}
