/**
 * `node local/run.mjs bench/retrieval/pack-embedding.ts FOLDER [FILE]`: makes the file that `src/search/text/embedding.ts` reads from a
 * folder with `vocab.txt`, `scales.f32` and `vectors.i8` (its README explains them). Takes a minute. Run it again when stemming changes.
 * Refuses a vocabulary in which two pieces have the same hash.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CONTINUED, EMBEDDING_MAGIC, EMBEDDING_VERSION } from '../../src/search/text/embedding.ts';
import { hashText, toTerms } from '../../src/search/text/terms.ts';
import { toNeighbours } from './neighbours.ts';

const FILE = fileURLToPath(new URL('../../pages/search/embedding.bin', import.meta.url));

/** Returns the bytes of the file. @param scales one per piece @param rows signed bytes, equally many per piece */
export function packEmbedding(pieces: string[], scales: Float32Array, rows: Int8Array): Uint8Array {
  const count = pieces.length;
  const dimensions = rows.length / count;
  if (!Number.isInteger(dimensions) || scales.length !== count) {
    throw new Error('vocabulary, scales and vectors do not belong together');
  }
  const hashes = Uint32Array.from(pieces, piece =>
    piece.startsWith('##') ? hashText(piece.slice(2), CONTINUED) : hashText(piece),
  );
  if (new Set(hashes).size !== count) throw new Error('two pieces have one hash');
  const terms = Uint32Array.from(pieces, piece => hashText(toTerms(piece, 50)[0] ?? ''));
  const vectors = Float32Array.from(
    rows,
    (value, i) => value * (scales[Math.floor(i / dimensions)] ?? 0),
  );
  const links = toNeighbours(pieces, vectors);
  const starts = new Uint32Array(count + 1);
  links.forEach((list, piece) => (starts[piece + 1] = (starts[piece] ?? 0) + list.length));
  const all = links.flat();
  const parts = [
    hashes,
    scales,
    terms,
    starts,
    rows,
    Uint16Array.from(all, ({ piece }) => piece),
    Uint8Array.from(all, ({ similarity }) => Math.round(255 * Math.min(similarity, 1))),
  ];
  const body = Buffer.concat(
    parts.map(part => new Uint8Array(part.buffer, part.byteOffset, part.byteLength)),
  );
  const id = createHash('sha256').update(body).digest().readUInt32LE();
  const header = Uint32Array.of(
    EMBEDDING_MAGIC,
    EMBEDDING_VERSION,
    id,
    dimensions,
    count,
    all.length,
  );
  return Buffer.concat([Buffer.from(header.buffer), body]);
}

function main(folder: string, file: string): void {
  const pieces = readFileSync(join(folder, 'vocab.txt'), 'utf8').trimEnd().split('\n');
  const scales = new Float32Array(Uint8Array.from(readFileSync(join(folder, 'scales.f32'))).buffer);
  const rows = new Int8Array(Uint8Array.from(readFileSync(join(folder, 'vectors.i8'))).buffer);
  const bytes = packEmbedding(pieces, scales, rows);
  writeFileSync(file, bytes);
  process.stdout.write(`${file}: ${bytes.length} bytes, ${pieces.length} pieces\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, file = FILE] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write('usage: pack-embedding.ts FOLDER [FILE]\n');
    process.exitCode = 2;
  } else main(folder, file);
}
