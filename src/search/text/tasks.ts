/**
 * The things that a query asks for one after the other, where it says that another follows: with a semicolon, "then", "also", "plus", "after that". A plain "and",
 * a comma or another sentence divides nothing: more often than not they join what one task is about. Linear, bounded. Pure.
 */
import { toChattiness } from './chatter.ts';

/** More tasks than this are not told apart: each costs as much as a query. */
const MAX_TASKS = 4;
const ANOTHER =
  /[;；]\s?|(?:[.!?,]\s|\s)(?:and\s)?(?:then|also|plus|after that|afterwards)(?:,\s|\s)/iu;

/** The tasks of a query; none where it has one only. @param text as far as it is read */
export function toTasks(text: string): string[] {
  const tasks: string[] = [];
  let held = '';
  for (const part of text.split(ANOTHER)) {
    // What is nothing but talk belongs to what follows.
    held = `${held} ${part}`.trim();
    if (toChattiness(held) === 1) continue;
    tasks.push(held);
    held = '';
  }
  return tasks.length > 1 ? tasks.slice(0, MAX_TASKS) : [];
}
