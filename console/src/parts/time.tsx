/** A relative time, with the full time as a tooltip. It stays true while the page is open. */
import { useNow } from './ticks.tsx';

const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Formats a time like `3 minutes ago`. @param now milliseconds since the epoch */
export function toRelative(at: string, now: number): string {
  const apart = Date.parse(at) - now;
  const step = STEPS.find(([, ms]) => Math.abs(apart) >= ms);
  return step ? relative.format(Math.trunc(apart / step[1]), step[0]) : 'just now';
}

/** Formats a full time in the reader's time zone. */
export const toWhole = (at: string): string => whole.format(new Date(at));

export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={toWhole(at)}>
      {toRelative(at, useNow())}
    </time>
  );
}
