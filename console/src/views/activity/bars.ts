/** How many rows there were in each part of a span of time. Pure. */
import type { AuditEvent } from '../../generated/types.gen.ts';

export interface Bar {
  /** Milliseconds since the epoch. */
  from: number;
  well: number;
  badly: number;
}

const BAD = new Set(['denied', 'failed']);

/**
 * Rows by time, the oldest bar first; none where there are no rows.
 * @param count how many bars
 */
export function toBars(
  events: readonly Pick<AuditEvent, 'at' | 'outcome'>[],
  count: number,
): Bar[] {
  const times = events.map(({ at }) => Date.parse(at));
  if (times.length === 0) return [];
  const first = times.reduce((a, b) => Math.min(a, b));
  const last = times.reduce((a, b) => Math.max(a, b));
  const step = Math.max((last - first + 1) / count, 1);
  const bars = Array.from({ length: count }, (_, i): Bar => {
    return { from: first + i * step, well: 0, badly: 0 };
  });
  events.forEach(({ outcome }, i) => {
    const bar = bars[Math.min(Math.floor(((times[i] ?? first) - first) / step), count - 1)];
    if (bar) bar[BAD.has(outcome) ? 'badly' : 'well'] += 1;
  });
  return bars;
}
