/** Parts of the search index that are kept. */

/** Where parts of one kind are: one for each catalog, written once. */
export interface IndexPartPort {
  find(serverId: string, hash: string): Promise<ArrayBuffer | undefined>;
  has(serverId: string, hash: string): Promise<boolean>;
  put(serverId: string, hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

export interface IndexParts {
  segments: IndexPartPort;
  /** Vectors by a model. @param model its name; each has vectors of its own */
  modelVectorsOf(model: string): IndexPartPort;
}
