/** Merges what somebody typed with another edit of the same record. Pure. */

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The fields whose values differ. */
export const changed = <T extends object>(before: T, after: T): (keyof T)[] =>
  (Object.keys(after) as (keyof T)[]).filter(key => !isSame(after[key], before[key]));

/** Applies the typed changes on top of the current record. @returns also the names of the fields that others changed */
export function rebase<T extends object>(before: T, typed: T, now: T) {
  const mine = changed(before, typed).map(key => [key, typed[key]] as const);
  const values = { ...now, ...Object.fromEntries(mine) };
  return { values, theirs: changed(before, now) };
}
