/** How many rows there were in each part of a span of time, as bars. Pure. */
import type { AuditCounts } from '../../generated/types.gen.ts';

type Part = AuditCounts['parts'][number];

export interface Bar {
  /** Milliseconds since the epoch. */
  from: number;
  well: number;
  badly: number;
}

/** What of a part is drawn as well and as badly. */
export type Split = (part: Part) => { well: number; badly: number };

export const byOutcome: Split = ({ done, cancelled, unknown, denied, failed }) => ({
  well: done + cancelled + unknown,
  badly: denied + failed,
});
export const denied: Split = ({ denied: badly }) => ({ well: 0, badly });
export const slow: Split = ({ slow: well }) => ({ well, badly: 0 });

/** The parts of the whole span, the oldest bar first, those without rows too. */
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
