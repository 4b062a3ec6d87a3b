/** Calls by day as a plot, with refused and failed ones on top. */
import type { AuditCounts, Usage } from '../../generated/types.gen.ts';
import '../activity.css';
import { byOutcome } from '../activity/bars.ts';
import { Plot } from '../activity/plot.tsx';

const DAY_SECONDS = 86_400;

/** @param from first day @param now milliseconds since the epoch */
export function ByDay({ days, from, now }: { days: readonly Usage[]; from: string; now: number }) {
  return (
    <Plot counts={toCounts(days, from, now)} split={byOutcome} says={toSentence} toText={toDay} />
  );
}

/** Days in UTC, wherever the reader is. */
const toDay = (at: string) => at.slice(0, 10);
const toSentence = (calls: number, badly: number) =>
  `${calls} ${calls === 1 ? 'call' : 'calls'}, ${badly} of them refused or failed,`;

/** Converts usage to the plot's format. Pure. */
function toCounts(days: readonly Usage[], from: string, now: number): AuditCounts {
  const since = `${from}T00:00:00.000Z`;
  const parts = days.map(({ day, calls, errors, denied, cancelled, unknown }) => ({
    at: `${day}T00:00:00.000Z`,
    // A result that is an error counts as failed here, though the call was completed.
    done: Math.max(0, calls - errors - denied - cancelled - unknown),
    denied,
    failed: errors,
    cancelled,
    unknown,
    slow: 0,
  }));
  const until = new Date(now).toISOString();
  return { since, until, step_seconds: DAY_SECONDS, counted_since: since, parts };
}
