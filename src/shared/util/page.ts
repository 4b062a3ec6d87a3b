/** One page of a list that a database keeps in order: what a query with room for one more row gives. Pure. */
import type { Position } from './cursor.ts';

export interface ListPage<T> {
  items: T[];
  /** Position of the last item, where more follow. */
  next?: Position;
}

/**
 * Cut a page.
 * @param rows as the query gave them, asked for with a limit of `limit + 1`
 * @param positionOf what an item is found again by
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
