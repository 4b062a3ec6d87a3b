/**
 * Builds tool search (lexical segments, plus a vector model where one is configured) and the services for the skills that classify tools.
 */
import type { AdminAudit } from '../audit/admin-audit.ts';
import type { Models } from '../models/create-models.ts';
import type { Catalog } from '../servers/catalog/catalog.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { createFindTools } from './find-tools.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import type { IndexParts } from './index/index-parts.ts';
import { SearchIndex } from './index/search-index.ts';
import { createLearning } from './learning/learning.ts';
import { LearningService } from './learning/learning-service.ts';
import { createModelSearch } from './rank/model-search.ts';
import { CorrectionService } from './skills/correction-service.ts';
import { createKnownSkills } from './skills/known-skills.ts';
import { createSkills } from './skills/skill-service.ts';
import { loadSkillId } from './skills/skill-store.ts';
import { SuggestionService } from './skills/suggestion-service.ts';
import type { EmbeddingSource } from './text/embedding-asset.ts';

export interface SearchDeps {
  db: D1Database;
  adminAudit: AdminAudit;
  parts: IndexParts;
  embedding: EmbeddingSource;
  models: Models;
  keys: Pick<KeyRing, 'digest'>;
  config: { learnsFromUse: boolean; audit: { gatherMs: number } };
  catalogOf(server: Server): Catalog | Promise<Catalog>;
  catalogsOf(servers: readonly Server[]): Promise<Catalog[]>;
  /** Discards this isolate's cached registry when it turns out to be stale. */
  invalidateRegistry(): void;
  monitors: { wake(serverId: string): Promise<void> };
  wait(ms: number): Promise<unknown>;
  now(): number;
}

export function createSearch({
  parts,
  embedding,
  models,
  monitors,
  catalogOf,
  catalogsOf,
  config,
  ...deps
}: SearchDeps) {
  const index = new SearchIndex({ segments: parts.segments, embedding, catalogsOf });
  const embedder = models.embedder('search');
  const skillsOf = createKnownSkills(deps.db);
  const learning = config.learnsFromUse
    ? createLearning({ ...deps, gatherMs: config.audit.gatherMs })
    : undefined;
  return {
    findTools: createFindTools({
      segmentsOf: servers => index.segmentsOf(servers),
      embedding,
      skillsOf,
      skillIdOf: named => loadSkillId(deps.db, named),
      learned: learning?.learned,
      model: embedder && createModelSearch(parts.modelVectorsOf(embedder.name), embedder),
    }),
    uses: learning?.uses,
    learning: new LearningService({ ...deps, learning }),
    skillsOf,
    skills: createSkills(deps),
    suggestions: new SuggestionService({ ...deps, embedding }),
    corrections: new CorrectionService({ ...deps, catalogOf, wake: id => monitors.wake(id) }),
  };
}
