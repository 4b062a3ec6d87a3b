/**
 * Classification without a model: from the trained weights that ship with the deployment, and from what administrators corrected by hand.
 */
import { EMBEDDING_VERSION, type Embedding } from '../text/embedding.ts';
import type { Way } from './classifying.ts';
import { createEmbeddedClassifier } from './embedded-classifier.ts';
import { loadHandMembers } from './member-store.ts';
import { WEIGHTS_VERSION, type Weights } from './weights.ts';

/** Large enough that a slice is worth its write, small enough that other work gets its turn in between. */
const SLICE = 250;

export interface EmbeddedWayPorts {
  db: D1Database;
  embedding(): Promise<Embedding>;
  weights(embedding: Embedding): Promise<Weights>;
}

export function createEmbeddedWay({ db, embedding, weights }: EmbeddedWayPorts): Way {
  return {
    id: `embedded:${WEIGHTS_VERSION}.${EMBEDDING_VERSION}`,
    source: 'embedded',
    slice: SLICE,
    async begin(taxonomy) {
      const table = await embedding();
      const classify = createEmbeddedClassifier({
        embedding: table,
        weights: await weights(table),
        taxonomy,
        handMembers: await loadHandMembers(db),
      });
      return async (_serverId, questions) => ({ classifications: questions.map(classify) });
    },
  };
}
