/** What a server's monitor does when a round is over, so that neither a request nor a discovery waits for it: skills, and vectors by a model. */
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
  /** The static files of the deployment. */
  assets: StaticFiles;
  embedding: EmbeddingSource;
  models: Models;
  /** Have a round run at a time. */
  wake(at: number): Promise<void>;
}

export interface AfterCycle {
  /** A round is over. Never throws: what failed is tried again after a later one. */
  follow(server: Server): Promise<void>;
  /** The server is disconnected or deleted. Settles when nothing more is put beside its catalogs. */
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
