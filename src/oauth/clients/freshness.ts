/** How long a response may be reused (RFC 9111 §4.2), within limits of our own. Pure. */

/** In milliseconds. */
const FRESH_MS = { min: 300_000, max: 86_400_000 };

/** Returns how long a response may be reused, in milliseconds, according to its headers and within limits (RFC 9111 §4.2). */
export function freshnessOf(headers: Headers): number {
  const { min, max } = FRESH_MS;
  const control = (headers.get('cache-control') ?? '').toLowerCase();
  if (/\bno-(?:store|cache)\b/.test(control)) return min;
  const seconds = /\bmax-age="?(\d{1,9})/.exec(control)?.[1];
  const [expires = NaN, date = NaN] = ['expires', 'date'].map(name =>
    Date.parse(headers.get(name) ?? ''),
  );
  const lifetime = seconds === undefined ? expires - date : Number(seconds) * 1000;
  const left = lifetime - (Number(headers.get('age')) || 0) * 1000;
  return Number.isNaN(left) ? min : Math.min(Math.max(left, min), max);
}
