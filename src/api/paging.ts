/** Pages of REST lists: query parameters, and conversion between cursors and positions. */
import { z } from 'zod';
import { fieldProblem } from '../shared/errors/field-problems.ts';
import { MAX_CURSOR_CHARS, parseCursor, toCursor, type Position } from '../shared/util/cursor.ts';

/** Query parameters of every list. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(500).default(100).meta({
    description: 'Most items on one page',
  }),
  cursor: z.string().max(MAX_CURSOR_CHARS).optional().meta({
    description: '`next_cursor` of the previous page; valid with the same filter only',
  }),
};

/**
 * Returns the position after which a page begins; undefined for the first page.
 * @param list the list's name and filter, for which the cursor must have been made
 * @param schema the form of a position of this list
 * @throws PorticoError `validation_failed` if the cursor is not one of this list
 */
export async function positionOf<T extends Position>(
  list: unknown,
  cursor: string | undefined,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  if (cursor === undefined) return undefined;
  const position = schema.safeParse(await parseCursor(list, cursor));
  if (position.success) return position.data;
  throw fieldProblem('cursor', 'is not a cursor of this list and filter; start again without one');
}

/** Returns `next_cursor` of a page, if another page follows. */
export async function nextOf(
  list: unknown,
  next: Position | undefined,
): Promise<{ next_cursor?: string }> {
  return next === undefined ? {} : { next_cursor: await toCursor(list, next) };
}

/** Schema of a page of a list with a total. */
export const pageOf = <T extends z.ZodType, K extends string>(key: K, item: T, id: string) =>
  z
    .object({
      [key]: z.array(item),
      next_cursor: z.string().optional().meta({ description: 'Present if there are more' }),
      total: z.number().int().meta({ description: 'How many match the filter' }),
    })
    .meta({ id });
