/** Parses `Retry-After` (RFC 9110 §10.2.3). Pure. */

/**
 * Returns how long to wait, in milliseconds; undefined where the header is missing or invalid.
 * @param now milliseconds since the epoch, for a header that holds a date
 * @param maxMs longest wait that is honoured
 */
export function toRetryAfterMs(headers: Headers, now: number, maxMs: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  const wait = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), maxMs);
}
