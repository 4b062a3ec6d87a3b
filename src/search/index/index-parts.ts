/** Stored parts of the search index: one of each kind per catalog, written once. */
import type { CatalogRef } from '../../servers/catalog/catalog.ts';

/** Storage for index parts of one kind. */
export interface IndexPartPort {
  /** Returns the parts of several catalogs in their order; undefined where one is not stored. */
  findAll(catalogs: readonly CatalogRef[]): Promise<(ArrayBuffer | undefined)[]>;
  has(serverId: string, hash: string): Promise<boolean>;
  put(serverId: string, hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

export interface IndexParts {
  segments: IndexPartPort;
  /** Vectors made by a model. @param model its name; each model has its own vectors */
  modelVectorsOf(model: string): IndexPartPort;
}
