/** The search of a deployment: over segments and, where it has a model for vectors, with that. */
import type { FindTools } from '../gateway/search.ts';
import type { Catalog } from '../servers/catalog/catalog.ts';
import type { Embedder } from '../models/embedder-port.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { SkillsOf } from '../servers/registry/tool-skills.ts';
import type { EmbeddingSource } from './text/embedding-asset.ts';
import { createFindTools } from './find-tools.ts';
import type { IndexParts } from './index/index-parts.ts';
import { createModelSearch } from './rank/model-search.ts';
import { SearchIndex } from './index/search-index.ts';

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
