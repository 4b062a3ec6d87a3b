/** Picks the largest of many values, in an order that depends only on the values and the names of their tools. Pure. */
import { compareTexts, partAt, type Part, type Parts } from '../index/part.ts';

/** A tool and its value. */
export interface Best {
  part: Part;
  /** Its index in the part. */
  tool: number;
  value: number;
}

/**
 * Returns the places with the largest values, largest first; ties by server name, then tool name. A value of -Infinity takes no part.
 * @param limit how many at most
 */
export function toBest(values: Float64Array, all: Parts, limit: number): Best[] {
  const least = toLeast(values, limit);
  const best: Best[] = [];
  for (let place = 0; place < values.length; place += 1) {
    const value = values[place] ?? -Infinity;
    if (value < least || value === -Infinity) continue;
    const part = partAt(all, place);
    if (part) best.push({ part, tool: place - part.offset, value });
  }
  return best.toSorted(compare).slice(0, Math.max(limit, 0));
}

/** Adds something to each value and reorders the same tools. */
export function withAdded(best: readonly Best[], added: (one: Best) => number): Best[] {
  return best.map(one => ({ ...one, value: one.value + added(one) })).toSorted(compare);
}

function compare(a: Best, b: Best): number {
  if (a.value !== b.value) return b.value - a.value;
  const byServer = compareTexts(a.part.server.name, b.part.server.name);
  return byServer || compareTexts(a.part.segment.nameOf(a.tool), b.part.segment.nameOf(b.tool));
}

/** Returns the smallest of the `limit` largest values: the root of a min-heap that holds the largest. */
function toLeast(values: Float64Array, limit: number): number {
  if (limit >= values.length || limit < 1) return -Infinity;
  const heap = new Float64Array(limit).fill(-Infinity);
  for (const value of values) {
    if (value <= (heap[0] ?? 0)) continue;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if ((heap[child + 1] ?? Infinity) < (heap[child] ?? Infinity)) child += 1;
      const smaller = heap[child];
      if (smaller === undefined || smaller >= value) break;
      heap[at] = smaller;
      at = child;
    }
    heap[at] = value;
  }
  return heap[0] ?? -Infinity;
}
