/** Packs the texts of many rows into as few bound SQL values as their size limit allows. Pure. */

/** Most characters of one bound value. */
const MAX_CHUNK_CHARS = 400_000;

/** Returns chunks in order; each stays within the limit of one value, or holds a single cell. */
export function toChunks(cells: readonly string[]): string[][] {
  const chunks: string[][] = [];
  let chars = Infinity;
  for (const cell of cells) {
    if (chars + cell.length > MAX_CHUNK_CHARS) {
      chunks.push([]);
      chars = 0;
    }
    chunks.at(-1)?.push(cell);
    chars += cell.length;
  }
  return chunks;
}
