/** Turns counts over time into bars. Pure. */
import type { AuditCounts } from '../../generated/types.gen.ts';

type Part = AuditCounts['parts'][number];

export interface Bar {
  /** Milliseconds since the epoch. */
  from: number;
  well: number;
  badly: number;
}

/** Which counts of a part are drawn as good and as bad. */
export type Split = (part: Part) => { well: number; badly: number };

export const byOutcome: Split = ({ done, cancelled, unknown, denied, failed }) => ({
  well: done + cancelled + unknown,
  badly: denied + failed,
});
export const denied: Split = ({ denied: badly }) => ({ well: 0, badly });
export const slow: Split = ({ slow: well }) => ({ well, badly: 0 });

/** One bar for each part of the span, the oldest first, including empty ones. */
export function toBars(
  { since, until, step_seconds: step, parts }: AuditCounts,
  split: Split,
): Bar[] {
  const [first, stepMs] = [Date.parse(since), step * 1000];
  const count = Math.max(1, Math.ceil((Date.parse(until) - first) / stepMs));
  const counted = new Map(
    parts.map(part => [Math.round((Date.parse(part.at) - first) / stepMs), part]),
  );
  return Array.from({ length: count }, (_, i) => {
    const part = counted.get(i);
    return { from: first + i * stepMs, ...(part ? split(part) : { well: 0, badly: 0 }) };
  });
}
