/** The search of a deployment: over segments and, where it has a model for vectors, with that. */
import type { FindTools } from './search.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Embedder } from '../llm/embedder-port.ts';
import type { Server } from '../registry/server-schema.ts';
import type { SkillsOf } from '../skills/tool-skills.ts';
import type { EmbeddingSource } from './embedding-asset.ts';
import { createFindTools } from './find-tools.ts';
import type { IndexParts } from './index-parts.ts';
import { createModelSearch } from './model-search.ts';
import { SearchIndex } from './search-index.ts';

export interface SearchPorts {
  parts: IndexParts;
  embedding: EmbeddingSource;
  /** Absent where no model for vectors is named. */
  embedder: Embedder | undefined;
  catalogOf(server: Server): Catalog | Promise<Catalog>;
  skillsOf: SkillsOf;
}

export function createSearch(ports: SearchPorts): FindTools {
  const { parts, embedding, embedder, catalogOf, skillsOf } = ports;
  const index = new SearchIndex({ segments: parts.segments, embedding, catalogOf });
  return createFindTools({
    segmentOf: server => index.segmentOf(server),
    embedding,
    skillsOf,
    model: embedder && createModelSearch(parts.modelVectorsOf(embedder.name), embedder),
  });
}
