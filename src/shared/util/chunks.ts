/** Texts of many rows, put together into as few bound values as their bound allows. Pure. */

/** Most characters of one bound value. */
const MAX_CHUNK_CHARS = 400_000;

/** In order, each chunk as long as one value may be, or one cell. */
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
