/** Edit distance of names, and which known name was probably meant by a misspelt one. Pure. */

/** Longer names are not compared. */
const MAX_CHARS = 64;
/** Most letters that may be wrong, missing or extra. */
const MAX_EDITS = 2;

/** @returns the nearest known name within two edits; undefined if there is none */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_CHARS) return undefined;
  const ranked = known
    .filter(each => each.length <= MAX_CHARS)
    .flatMap(each => {
      const edits = editsWithin(name.toUpperCase(), each.toUpperCase(), MAX_EDITS);
      return edits === undefined ? [] : [{ each, edits }];
    })
    .toSorted((one, other) => one.edits - other.edits);
  return ranked[0]?.each;
}

/**
 * Levenshtein distance of two texts: letters that are wrong, missing or extra. Takes linear time, since only cells near
 * the diagonal are computed.
 * @param most largest distance that is counted
 * @returns undefined if the distance is larger
 */
export function editsWithin(from: string, to: string, most: number): number | undefined {
  if (Math.abs(from.length - to.length) > most) return undefined;
  const far = most + 1;
  const width = 2 * most + 1;
  let row = Array.from({ length: width }, (_, at) => (at < most ? far : at - most));
  let next = Array.from(row);
  for (let i = 1; i <= from.length; i += 1) {
    let least = far;
    // `at` stands for position `i + at - most` of the other text.
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
