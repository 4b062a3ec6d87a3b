/** How long an answer may be used without another look (RFC 9111 §4.2), within bounds of our own. Pure. */

/** In milliseconds. */
const FRESH_MS = { min: 300_000, max: 86_400_000 };

/** How long what was read may be used, in milliseconds, as its headers say and within bounds (RFC 9111 §4.2). */
export function freshnessOf(headers: Headers): number {
  const { min, max } = FRESH_MS;
  const control = (headers.get('cache-control') ?? '').toLowerCase();
  if (/\bno-(?:store|cache)\b/.test(control)) return min;
  const seconds = /\bmax-age="?(\d{1,9})/.exec(control)?.[1];
  const [expires = NaN, date = NaN] = ['expires', 'date'].map(name =>
    Date.parse(headers.get(name) ?? ''),
  );
  const told = seconds === undefined ? expires - date : Number(seconds) * 1000;
  const left = told - (Number(headers.get('age')) || 0) * 1000;
  return Number.isNaN(left) ? min : Math.min(Math.max(left, min), max);
}
