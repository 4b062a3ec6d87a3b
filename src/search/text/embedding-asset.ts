/**
 * Loads the word-piece embedding from the deployment's static files, once per isolate. All requests and objects of the isolate share the
 * value but never a promise: a caller that comes during a load polls for the value.
 */
import { readStaticFile, type StaticFiles } from '../../http/static-file.ts';
import { readEmbedding, type Embedding } from './embedding.ts';

const PATH = '/search/embedding.bin';
/** After this time, in milliseconds, a load is considered lost and another caller starts one. */
const LOAD_MS = 10_000;
const POLL_MS = 5;

/** The value, and when the running load started. */
const isolate: { held?: Embedding; loadingSince: number } = { loadingSince: 0 };

export type EmbeddingSource = () => Promise<Embedding>;

/**
 * Creates the source of the embedding.
 * @param assets the static files of the deployment
 * @param wait settles after so many milliseconds
 */
export function createEmbeddingSource(
  assets: StaticFiles,
  wait: (ms: number) => Promise<void>,
): EmbeddingSource {
  return async () => {
    while (!isolate.held && Date.now() - isolate.loadingSince < LOAD_MS) await wait(POLL_MS);
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
