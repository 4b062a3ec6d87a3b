/** Parts of the search index that are kept, one for each catalog, written once. */
import type { CatalogRef } from '../../servers/catalog/catalog.ts';

/** Where parts of one kind are. */
export interface IndexPartPort {
  /** Those of many catalogs, in their order; undefined where there is none. */
  findAll(catalogs: readonly CatalogRef[]): Promise<(ArrayBuffer | undefined)[]>;
  has(serverId: string, hash: string): Promise<boolean>;
  put(serverId: string, hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

export interface IndexParts {
  segments: IndexPartPort;
  /** Vectors by a model. @param model its name; each has vectors of its own */
  modelVectorsOf(model: string): IndexPartPort;
}
