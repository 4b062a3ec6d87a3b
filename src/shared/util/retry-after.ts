/** Parses `Retry-After` (RFC 9110 §10.2.3). Pure. */

/**
 * Returns how long to wait, in milliseconds; undefined where the header is missing or invalid.
 * @param now milliseconds since the epoch, for a header that holds a date
 * @param maxMs longest wait that is honoured
 */
export function toRetryAfterMs(headers: Headers, now: number, maxMs: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  // A date begins with the name of a day; `Date.parse` would take numbers of other forms for dates too.
  const at = /^[a-z]/i.test(value) ? Date.parse(value) : NaN;
  const wait = /^\d+$/.test(value) ? Number(value) * 1_000 : at - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), maxMs);
}
