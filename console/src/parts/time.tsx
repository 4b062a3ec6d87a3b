/** A relative time, with the full time as a tooltip. It stays true while the page is open. */
import { toRelative } from './relative-time.ts';
import { useNow } from './ticks.tsx';

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Formats a full time in the reader's time zone. */
export const toWhole = (at: string): string => whole.format(new Date(at));

export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={toWhole(at)}>
      {toRelative(at, useNow())}
    </time>
  );
}
