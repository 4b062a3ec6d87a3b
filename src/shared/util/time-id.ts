/**
 * UUIDs that sort by time (version 7, RFC 9562 §5.7), so that rows of a time are found without an index on it. Ids that an isolate makes
 * for the same time sort in the order they were made, by a counter of 12 bits (§6.2, method 1). Pure but for that and the CSPRNG.
 */

const TIME_DIGITS = 12;
const NO_RANDOM = '7000-8000-000000000000';

const toTimeText = (at: number): string => {
  const hex = Math.max(0, Math.floor(at)).toString(16).padStart(TIME_DIGITS, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
};

const MAX_COUNT = 0xf_ff;
/** How many ids were made for each of the latest times. */
const counts = new Map<number, number>();
const MAX_TIMES = 16;

/** Makes an id for a time. @param at milliseconds since the epoch */
export function toTimeId(at: number): string {
  const count = Math.min(counts.get(at) ?? 0, MAX_COUNT);
  counts.set(at, count + 1);
  const [oldest] = counts.keys();
  if (counts.size > MAX_TIMES && oldest !== undefined) counts.delete(oldest);
  // The time replaces the first 12 digits of a random UUID; the version and the counter follow.
  const counted = count.toString(16).padStart(3, '0');
  return `${toTimeText(at)}-7${counted}${crypto.randomUUID().slice(18)}`;
}

/** Returns the smallest id of a time: no id of that time or later sorts before it. @param at milliseconds since the epoch */
export const firstIdAt = (at: number): string => `${toTimeText(at)}-${NO_RANDOM}`;

/** Returns the time of an id, in milliseconds since the epoch; undefined if it is no such id. */
export function timeOfId(id: string): number | undefined {
  const isOne = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id);
  return isOne ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}
