/** Builds the classification of one server's tools: by the deployment's model where there is one, else by the embedded classifier. */
import type { StaticFiles } from '../../http/static-file.ts';
import type { Model } from '../../models/model-port.ts';
import type { EmbeddingSource } from '../text/embedding-asset.ts';
import { Classifying, type ClassifyingPorts } from './classifying.ts';
import { createEmbeddedWay } from './embedded-way.ts';
import { createLlmWay } from './llm-way.ts';
import { loadWeights } from './weights-asset.ts';

export interface CreateClassifyingPorts extends Omit<ClassifyingPorts, 'way'> {
  assets: StaticFiles;
  embedding: EmbeddingSource;
  model: Model | undefined;
}

export function createClassifying(ports: CreateClassifyingPorts): Classifying {
  const { assets, embedding, model, db } = ports;
  const way = model
    ? createLlmWay(db, model)
    : createEmbeddedWay({ db, embedding, weights: table => loadWeights(assets, table) });
  return new Classifying({ ...ports, way });
}
