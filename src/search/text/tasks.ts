/**
 * Splits a query into tasks where it says that another one follows: with a semicolon, "then", "also", "plus", "after that". A plain "and",
 * a comma or a new sentence does not split: more often than not it joins what belongs to one task. Linear, bounded. Pure.
 */
import { toChattiness } from './chatter.ts';

/** How many tasks are kept; each costs as much as a query. */
const MAX_TASKS = 4;
const ANOTHER =
  /[;；]\s?|(?:[.!?,]\s|\s)(?:and\s)?(?:then|also|plus|after that|afterwards)(?:,\s|\s)/iu;

/** Returns the tasks of a query; none where it has only one. @param text the query, cut to the part that is read */
export function toTasks(text: string): string[] {
  const tasks: string[] = [];
  let held = '';
  for (const part of text.split(ANOTHER)) {
    // Text that is nothing but talk is joined with what follows.
    held = `${held} ${part}`.trim();
    if (toChattiness(held) === 1) continue;
    tasks.push(held);
    held = '';
  }
  return tasks.length > 1 ? tasks.slice(0, MAX_TASKS) : [];
}
