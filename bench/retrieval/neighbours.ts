/**
 * Finds word pieces with similar meanings: those whose vectors have a cosine of at least `LEAST`, nearest first, a few for each, one per
 * stem. Pieces that are not words (two letters or less, stop words, continuations) are left out on both sides.
 */
import { STOP_WORDS } from '../../src/search/text/stop-words.ts';
import { toTerms } from '../../src/search/text/terms.ts';

export interface Link {
  piece: number;
  similarity: number;
}

const LEAST = 0.5;
const MOST_LINKS = 16;

/** @param rows count × dimensions numbers @returns the neighbours of each piece */
export function toNeighbours(pieces: readonly string[], rows: Float32Array): Link[][] {
  const dimensions = rows.length / pieces.length;
  const links: Link[][] = pieces.map(() => []);
  const words = pieces.flatMap((text, piece) =>
    /^[a-z]{3,}$/.test(text) && !STOP_WORDS.has(text)
      ? [{ piece, stem: toTerms(text, 50)[0] }]
      : [],
  );
  const units = new Float32Array(words.length * dimensions);
  words.forEach(({ piece }, i) => {
    const row = rows.subarray(piece * dimensions, (piece + 1) * dimensions);
    const length = Math.hypot(...row) || 1;
    row.forEach((value, k) => (units[i * dimensions + k] = value / length));
  });
  words.forEach((one, i) => {
    for (let j = 0; j < i; j += 1) {
      const other = words[j];
      if (!other || other.stem === one.stem) continue;
      let cosine = 0;
      for (
        let a = i * dimensions, b = j * dimensions, end = a + dimensions;
        a < end;
        a += 1, b += 1
      ) {
        cosine += (units[a] ?? 0) * (units[b] ?? 0);
      }
      if (cosine < LEAST) continue;
      links[one.piece]?.push({ piece: other.piece, similarity: cosine });
      links[other.piece]?.push({ piece: one.piece, similarity: cosine });
    }
  });
  const stems = new Map(words.map(({ piece, stem }) => [piece, stem]));
  return links.map(list => {
    const seen = new Set<string | undefined>();
    return list
      .toSorted((a, b) => b.similarity - a.similarity || a.piece - b.piece)
      .filter(({ piece }) => {
        const stem = stems.get(piece);
        return !seen.has(stem) && seen.add(stem);
      })
      .slice(0, MOST_LINKS);
  });
}
