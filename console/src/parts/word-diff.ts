/**
 * The differences between two texts, word by word (Myers, "An O(ND) difference algorithm", 1986). The cost is bounded: in texts with too
 * many words or differences, everything between the common beginning and end counts as replaced. Pure.
 */

export interface Piece {
  kind: 'same' | 'gone' | 'new';
  text: string;
}

/** A mark of a hidden character, white space, a word, or another single character. */
const WORD = /⟨U\+[0-9A-F]{4,6}⟩|\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;
/** Most words of both texts that are compared, and most differences among them. */
const MAX_WORDS = 20_000;
const MAX_EDITS = 400;

/** The pieces of both texts, in order: those that are not `new` form the first text, those that are not `gone` the second. */
export function diffWords(before: string, after: string): Piece[] {
  const one = before.match(WORD) ?? [];
  const other = after.match(WORD) ?? [];
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const gone = one.slice(start, one.length - end);
  const added = other.slice(start, other.length - end);
  return join([
    { kind: 'same', text: one.slice(0, start).join('') },
    ...(compare(gone, added) ?? replace(gone, added)),
    { kind: 'same', text: one.slice(one.length - end).join('') },
  ]);
}

const replace = (gone: readonly string[], added: readonly string[]): Piece[] => [
  { kind: 'gone', text: gone.join('') },
  { kind: 'new', text: added.join('') },
];

/** Finds the fewest differing words; undefined where there are too many. */
function compare(one: readonly string[], other: readonly string[]): Piece[] | undefined {
  if (one.length + other.length > MAX_WORDS) return undefined;
  const most = Math.min(MAX_EDITS, one.length + other.length);
  const zero = most + 1;
  // How far each diagonal gets with this many edits, and the state before each of them.
  const furthest = new Int32Array(2 * most + 3);
  const trail: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    trail.push(furthest.slice(zero - edits - 1, zero + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const from = previous(furthest, zero, diagonal, edits);
      let x = (furthest[zero + from] ?? 0) + (from < diagonal ? 1 : 0);
      while (x < one.length && x - diagonal < other.length && one[x] === other[x - diagonal]) {
        x += 1;
      }
      furthest[zero + diagonal] = x;
      if (x >= one.length && x - diagonal >= other.length) return walkBack(trail, one, other);
    }
  }
  return undefined;
}

/** The diagonal of the previous step. */
function previous(furthest: Int32Array, zero: number, diagonal: number, edits: number): number {
  const below = furthest[zero + diagonal - 1] ?? 0;
  const above = furthest[zero + diagonal + 1] ?? 0;
  const isDown = diagonal === -edits || (diagonal !== edits && below < above);
  return isDown ? diagonal + 1 : diagonal - 1;
}

function walkBack(
  trail: readonly Int32Array[],
  one: readonly string[],
  other: readonly string[],
): Piece[] {
  const pieces: Piece[] = [];
  let [x, y] = [one.length, other.length];
  const same = (count: number) => {
    for (let left = count; left > 0; left -= 1) {
      x -= 1;
      y -= 1;
      pieces.push({ kind: 'same', text: one[x] ?? '' });
    }
  };
  for (let edits = trail.length - 1; edits > 0; edits -= 1) {
    const before = trail[edits] ?? new Int32Array();
    const from = previous(before, edits + 1, x - y, edits);
    const fromX = before[edits + 1 + from] ?? 0;
    const isNew = from > x - y;
    same(isNew ? x - fromX : x - fromX - 1);
    if (isNew) y -= 1;
    else x -= 1;
    pieces.push(
      isNew ? { kind: 'new', text: other[y] ?? '' } : { kind: 'gone', text: one[x] ?? '' },
    );
  }
  same(x);
  return pieces.toReversed();
}

/** Joins neighbours of one kind, and drops empty pieces. */
function join(pieces: readonly Piece[]): Piece[] {
  const joined: Piece[] = [];
  for (const { kind, text } of pieces) {
    const last = joined.at(-1);
    if (text === '') continue;
    if (last?.kind === kind) last.text += text;
    else joined.push({ kind, text });
  }
  return joined;
}
