/** Loads the weights of the embedded classifier from the deployment's static files, once per isolate. */
import { readStaticFile, type StaticFiles } from '../../http/static-file.ts';
import type { Embedding } from '../text/embedding.ts';
import { readWeights, type Weights } from './weights.ts';

const PATH = '/search/skills.bin';

/** Shared by the isolate: a value, never a promise. */
const isolate: { held?: Weights } = {};

/**
 * @param assets the static files of the deployment
 * @throws Error where the deployment lacks the file, or it was made with another embedding
 */
export async function loadWeights(assets: StaticFiles, embedding: Embedding): Promise<Weights> {
  if (isolate.held) return isolate.held;
  const weights = readWeights(await readStaticFile(assets, PATH), embedding.dimensions);
  if (weights.embeddingId !== embedding.id)
    throw new Error(`${PATH} was made with another embedding: run bench:skills with --write`);
  isolate.held = weights;
  return weights;
}
