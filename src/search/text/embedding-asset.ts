/**
 * The word-piece embedding, read from the deployment's static files once per isolate. The value is shared by all requests and
 * objects of the isolate, a promise never: who comes while another loads it waits for the value.
 */
import { readStaticFile, type StaticFiles } from '../../http/static-file.ts';
import { readEmbedding, type Embedding } from './embedding.ts';

const PATH = '/search/embedding.bin';
/** Whoever loads it is given up after this time, in milliseconds. */
const LOAD_MS = 10_000;
const LOOK_MS = 5;

/** What the isolate has of it. */
const isolate: { held?: Embedding; loadingSince: number } = { loadingSince: 0 };

export type EmbeddingSource = () => Promise<Embedding>;

/**
 * Where the embedding comes from.
 * @param assets the static files of the deployment
 * @param wait settles after so many milliseconds
 */
export function createEmbeddingSource(
  assets: StaticFiles,
  wait: (ms: number) => Promise<void>,
): EmbeddingSource {
  return async () => {
    while (!isolate.held && Date.now() - isolate.loadingSince < LOAD_MS) await wait(LOOK_MS);
    return isolate.held ?? load(assets);
  };
}

/** @throws Error where the deployment lacks the file */
async function load(assets: StaticFiles): Promise<Embedding> {
  isolate.loadingSince = Date.now();
  try {
    isolate.held = readEmbedding(await readStaticFile(assets, PATH));
    return isolate.held;
  } finally {
    isolate.loadingSince = 0;
  }
}
