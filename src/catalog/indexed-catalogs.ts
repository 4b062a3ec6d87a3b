/** The keeper of a server's catalogs with all that it stores: catalogs and their parts of the search index, in one namespace. */
import type { EmbeddingSource } from '../search/embedding-asset.ts';
import { createIndexer } from '../search/search-index.ts';
import { createSegmentPort } from '../search/segment-kv.ts';
import { CatalogKeeper } from './catalog-keeper.ts';
import { createCatalogPort } from './catalog-kv.ts';

/** @param storage of the server's object */
export function createCatalogKeeper(
  storage: DurableObjectStorage,
  kv: KVNamespace,
  embedding: EmbeddingSource,
): CatalogKeeper {
  const index = createIndexer(createSegmentPort(kv), embedding);
  return new CatalogKeeper({ storage, catalogs: createCatalogPort(kv), index });
}
