/** What becomes of what somebody typed where what they edit was changed meanwhile. Pure. */

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The fields whose values are other than they were. */
export const changed = <T extends object>(before: T, after: T): (keyof T)[] =>
  (Object.keys(after) as (keyof T)[]).filter(key => !isSame(after[key], before[key]));

/** What others wrote meanwhile, with what was typed here over it. @returns also the names of what they changed */
export function rebase<T extends object>(before: T, typed: T, now: T) {
  const mine = changed(before, typed).map(key => [key, typed[key]] as const);
  const values = { ...now, ...Object.fromEntries(mine) };
  return { values, theirs: changed(before, now) };
}
