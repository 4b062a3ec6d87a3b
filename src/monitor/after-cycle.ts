/**
 * Work that a server's monitor does after each check cycle, so that no request and no discovery waits for it: classify tools into skills,
 * compute embedding vectors with a model.
 */
import type { StaticFiles } from '../http/static-file.ts';
import type { Models } from '../models/create-models.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { EmbeddingSource } from '../search/text/embedding-asset.ts';
import type { IndexParts } from '../search/index/index-parts.ts';
import { ModelIndexing } from '../search/index/model-indexing.ts';
import { createClassifying } from '../search/skills/create-classifying.ts';

export interface AfterCyclePorts {
  db: D1Database;
  storage: DurableObjectStorage;
  parts: IndexParts;
  findCatalog(serverId: string, hash: string): Promise<string | undefined>;
  assets: StaticFiles;
  embedding: EmbeddingSource;
  models: Models;
  /** Schedules a check cycle. */
  wake(at: number): Promise<void>;
}

export interface AfterCycle {
  /** Runs the work after a cycle. Never throws. Work that failed is retried after a later cycle. */
  follow(server: Server): Promise<void>;
  /** Stops the work for a server that is disconnected or deleted. Resolves once nothing more is stored beside its catalogs. */
  stop(): Promise<void>;
}

export function createAfterCycle(ports: AfterCyclePorts): AfterCycle {
  const { models, storage, parts, findCatalog, wake } = ports;
  const classifying = createClassifying({ ...ports, model: models.questions('skills') });
  const embedder = models.embedder('index');
  const indexing =
    embedder &&
    new ModelIndexing({
      storage,
      parts: parts.modelVectorsOf(embedder.name),
      embedder,
      findCatalog,
      wake,
    });
  return {
    async follow(server) {
      await Promise.all([classifying.follow(server), indexing?.follow(server)]);
    },
    async stop() {
      classifying.stop();
      await indexing?.stop();
    },
  };
}
