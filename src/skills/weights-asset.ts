/** The weights of the embedded classifier, read from the deployment's static files once per isolate. */
import { readWeights, type Weights } from './weights.ts';
import type { Embedding } from '../search/embedding.ts';

const URL_OF_IT = new URL('https://assets.invalid/search/skills.bin');

/** What the isolate has of it: a value, never a promise. */
const isolate: { held?: Weights } = {};

/**
 * @param assets the static files of the deployment
 * @throws Error where the deployment lacks the file, or it was made with another embedding
 */
export async function loadWeights(
  assets: { fetch(url: URL): Promise<Response> },
  embedding: Embedding,
): Promise<Weights> {
  if (isolate.held) return isolate.held;
  const response = await assets.fetch(URL_OF_IT);
  if (!response.ok)
    throw new Error(`The static file ${URL_OF_IT.pathname} is missing: build the assets`);
  const weights = readWeights(await response.arrayBuffer(), embedding.dimensions);
  if (weights.embeddingId !== embedding.id) {
    throw new Error(
      `${URL_OF_IT.pathname} was made with another embedding: run bench:skills with --write`,
    );
  }
  isolate.held = weights;
  return weights;
}
