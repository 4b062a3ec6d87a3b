/** How long ago something was, or how long it takes until then. Pure. */

const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Formats a time like `3 minutes ago`. @param now milliseconds since the epoch */
export function toRelative(at: string, now: number): string {
  const apart = Date.parse(at) - now;
  const step = STEPS.find(([, ms]) => Math.abs(apart) >= ms);
  if (!step) return 'just now';
  // A time ahead is rounded: what was just made for 30 days ends in 30 days, not in 29.
  const round = apart > 0 ? Math.round : Math.trunc;
  return relative.format(round(apart / step[1]), step[0]);
}
