/**
 * UUIDs that sort by their time (version 7, RFC 9562 §5.7): what was made at a time is found without an index on it. Those that an isolate
 * makes of one time sort as they were made, by a counter of 12 bits (§6.2, method 1). Pure but for that and the CSPRNG.
 */

const TIME_DIGITS = 12;
const NO_RANDOM = '7000-8000-000000000000';

const toTimeText = (at: number): string => {
  const hex = Math.max(0, Math.floor(at)).toString(16).padStart(TIME_DIGITS, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
};

const MAX_COUNT = 0xf_ff;
/** How many ids there are of the times that ids were made of last. */
const counts = new Map<number, number>();
const MAX_TIMES = 16;

/** A new id of a time. @param at milliseconds since the epoch */
export function toTimeId(at: number): string {
  const count = Math.min(counts.get(at) ?? 0, MAX_COUNT);
  counts.set(at, count + 1);
  const [oldest] = counts.keys();
  if (counts.size > MAX_TIMES && oldest !== undefined) counts.delete(oldest);
  // Of a random UUID the time takes the first 12 digits, then come the version and the counter.
  const counted = count.toString(16).padStart(3, '0');
  return `${toTimeText(at)}-7${counted}${crypto.randomUUID().slice(18)}`;
}

/** The least id of a time: all ids of that time and later are not before it. @param at milliseconds since the epoch */
export const firstIdAt = (at: number): string => `${toTimeText(at)}-${NO_RANDOM}`;

/** The time of an id, in milliseconds since the epoch; undefined where it is none of these. */
export function timeOfId(id: string): number | undefined {
  const isOne = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id);
  return isOne ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}
