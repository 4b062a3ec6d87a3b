/**
 * The word-piece embedding, read from the deployment's static files once per isolate. The value is shared by all requests and
 * objects of the isolate, a promise never: who comes while another loads it waits for the value.
 */
import { readEmbedding, type Embedding } from './embedding.ts';

const PATH = '/search/embedding.bin';
/** Whoever loads it is given up after this time, in milliseconds. */
const LOAD_MS = 10_000;
const LOOK_MS = 5;

let held: Embedding | undefined;
let loadingSince: number | undefined;

export type EmbeddingSource = () => Promise<Embedding>;

/**
 * Where the embedding comes from.
 * @param fetchAsset reads a static file by its path
 */
export function createEmbeddingSource(
  fetchAsset: (path: string) => Promise<Response>,
): EmbeddingSource {
  return async () => {
    while (!held && loadingSince !== undefined && Date.now() - loadingSince < LOAD_MS) {
      await scheduler.wait(LOOK_MS);
    }
    return held ?? load(fetchAsset);
  };
}

/** @throws Error where the deployment lacks the file */
async function load(fetchAsset: (path: string) => Promise<Response>): Promise<Embedding> {
  loadingSince = Date.now();
  try {
    const response = await fetchAsset(PATH);
    if (!response.ok) throw new Error(`The static file ${PATH} is missing: build the assets`);
    held = readEmbedding(await response.arrayBuffer());
    return held;
  } finally {
    loadingSince = undefined;
  }
}
