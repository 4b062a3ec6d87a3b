/** One page of a list in database order, cut from a query that asked for one row more. Pure. */
import type { Position } from './cursor.ts';

export interface ListPage<T> {
  items: T[];
  /** Position of the last item, if more follow. */
  next?: Position;
}

/**
 * Cuts a page.
 * @param rows result of a query with the limit `limit + 1`
 * @param positionOf the values by which an item is found again
 */
export function toListPage<T>(
  rows: readonly T[],
  limit: number,
  positionOf: (item: T) => Position,
): ListPage<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return rows.length > limit && last !== undefined ? { items, next: positionOf(last) } : { items };
}
