/**
 * `node bench/retrieval/pack-embedding.ts FOLDER [FILE]`: makes the file that `src/search/embedding.ts` reads of a folder with
 * `vocab.txt`, `scales.f32` and `vectors.i8` (its README says what these are). Refuses a vocabulary in which two pieces have one hash.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CONTINUED, EMBEDDING_MAGIC, EMBEDDING_VERSION } from '../../src/search/embedding.ts';
import { hashText } from '../../src/search/terms.ts';

const FILE = fileURLToPath(new URL('../../pages/search/embedding.bin', import.meta.url));

/** The bytes of the file. */
export function packEmbedding(pieces: string[], scales: Uint8Array, rows: Uint8Array): Uint8Array {
  const count = pieces.length;
  const dimensions = rows.length / count;
  if (!Number.isInteger(dimensions) || scales.length !== 4 * count) {
    throw new Error('vocabulary, scales and vectors do not belong together');
  }
  const hashes = Uint32Array.from(pieces, piece =>
    piece.startsWith('##') ? hashText(piece.slice(2), CONTINUED) : hashText(piece),
  );
  if (new Set(hashes).size !== count) throw new Error('two pieces have one hash');
  const body = Buffer.concat([Buffer.from(hashes.buffer), scales, rows]);
  const id = createHash('sha256').update(body).digest().readUInt32LE();
  const header = Uint32Array.of(EMBEDDING_MAGIC, EMBEDDING_VERSION, id, dimensions, count);
  return Buffer.concat([Buffer.from(header.buffer), body]);
}

const [folder, file = FILE] = process.argv.slice(2);
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (folder === undefined) {
    process.stderr.write('usage: node bench/retrieval/pack-embedding.ts FOLDER [FILE]\n');
    process.exit(2);
  }
  const pieces = readFileSync(join(folder, 'vocab.txt'), 'utf8').trimEnd().split('\n');
  const scales = readFileSync(join(folder, 'scales.f32'));
  const bytes = packEmbedding(pieces, scales, readFileSync(join(folder, 'vectors.i8')));
  writeFileSync(file, bytes);
  process.stdout.write(`${file}: ${bytes.length} bytes, ${pieces.length} pieces\n`);
}
