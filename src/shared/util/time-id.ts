/** UUIDs that sort by their time (version 7, RFC 9562 §5.7): what was made at a time is found without an index on it. Pure but for the CSPRNG. */

const TIME_DIGITS = 12;
const NO_RANDOM = '7000-8000-000000000000';

const toTimeText = (at: number): string => {
  const hex = Math.max(0, Math.floor(at)).toString(16).padStart(TIME_DIGITS, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
};

/** A new id of a time. @param at milliseconds since the epoch */
export function toTimeId(at: number): string {
  // Of a random UUID the time takes the first 12 digits, the version the next.
  return `${toTimeText(at)}-7${crypto.randomUUID().slice(15)}`;
}

/** The least id of a time: all ids of that time and later are not before it. @param at milliseconds since the epoch */
export const firstIdAt = (at: number): string => `${toTimeText(at)}-${NO_RANDOM}`;

/** The time of an id, in milliseconds since the epoch; undefined where it is none of these. */
export function timeOfId(id: string): number | undefined {
  const isOne = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id);
  return isOne ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}
