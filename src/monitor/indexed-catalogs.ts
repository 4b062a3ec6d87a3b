/** Builds the writer of a server's catalogs, which stores catalogs and their parts of the search index. */
import type { EmbeddingSource } from '../search/text/embedding-asset.ts';
import { createIndexer } from '../search/index/search-index.ts';
import type { IndexPartPort } from '../search/index/index-parts.ts';
import { CatalogWriter, type CatalogPort } from './catalog-writer.ts';

const INDEXED_KEY = 'indexed';

/** @param storage of the server's object */
export function createCatalogWriter(
  storage: DurableObjectStorage,
  { catalogs, segments }: { catalogs: CatalogPort; segments: IndexPartPort },
  embedding: EmbeddingSource,
): CatalogWriter {
  const indexed = {
    find: () => storage.get<string>(INDEXED_KEY),
    put: (segment: string) => storage.put(INDEXED_KEY, segment),
  };
  const index = createIndexer(segments, embedding, indexed);
  return new CatalogWriter({ storage, catalogs, index });
}
