/** How far names are from each other, and which known name somebody meant who wrote another one. Pure. */

/** Longer names are not compared. */
const MAX_CHARS = 64;
/** Letters that may be wrong, missing or too many. */
const MAX_EDITS = 2;

/** @returns the known name that is at most two edits away, the nearest one; undefined where there is none */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_CHARS) return undefined;
  const ranked = known
    .filter(each => Math.abs(each.length - name.length) <= MAX_EDITS && each.length <= MAX_CHARS)
    .map(each => ({ each, edits: editsBetween(name.toUpperCase(), each.toUpperCase()) }))
    .filter(({ edits }) => edits <= MAX_EDITS)
    .toSorted((one, other) => one.edits - other.edits);
  return ranked[0]?.each;
}

/** Levenshtein's distance of two short texts: letters that are wrong, missing or too many. */
export function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/**
 * The same where it is at most so many, in time linear in the length: only what is near the diagonal is looked at.
 * @returns undefined where it is more
 */
export function editsWithin(from: string, to: string, most: number): number | undefined {
  if (Math.abs(from.length - to.length) > most) return undefined;
  const far = most + 1;
  const width = 2 * most + 1;
  let row = Array.from({ length: width }, (_, at) => (at < most ? far : at - most));
  let next = Array.from(row);
  for (let i = 1; i <= from.length; i += 1) {
    let least = far;
    // `at` stands for the place `i + at - most` of the other text.
    for (let at = 0; at < width; at += 1) {
      const j = i + at - most;
      let edits = far;
      if (j >= 0 && j <= to.length) {
        const wrong = from.charCodeAt(i - 1) === to.charCodeAt(j - 1) ? 0 : 1;
        if (j > 0) edits = Math.min(edits, (row[at] ?? far) + wrong);
        edits = Math.min(edits, (row[at + 1] ?? far) + 1, (next[at - 1] ?? far) + 1);
      }
      next[at] = edits;
      if (edits < least) least = edits;
    }
    if (least === far) return undefined;
    [row, next] = [next, row];
  }
  const edits = row[to.length - from.length + most] ?? far;
  return edits > most ? undefined : edits;
}
