/**
 * Catalog texts in KV under `catalog/{server}/{hash}`: written once and never changed, so KV's staleness does not matter. Data derived from
 * a catalog has keys below the catalog's (`search/index/index-kv.ts`) and is deleted with it.
 */
import { createIndexParts } from '../search/index/index-kv.ts';
import type { CatalogRef } from '../servers/catalog/catalog.ts';
import { findTexts } from '../shared/util/texts-kv.ts';
import type { CatalogPort } from './catalog-writer.ts';

const key = (serverId: string, hash: string) => `catalog/${serverId}/${hash}`;

export async function findCatalogText(
  kv: KVNamespace,
  serverId: string,
  hash: string,
): Promise<string | undefined> {
  return (await kv.get(key(serverId, hash))) ?? undefined;
}

/** Finds the catalogs of many servers, in their order. */
export const findCatalogTexts = (
  kv: KVNamespace,
  refs: readonly CatalogRef[],
): Promise<(string | undefined)[]> =>
  findTexts(
    kv,
    refs.map(({ serverId, hash }) => key(serverId, hash)),
  );

function putCatalogText(
  kv: KVNamespace,
  serverId: string,
  hash: string,
  text: string,
): Promise<void> {
  return kv.put(key(serverId, hash), text);
}

/** Storage of catalogs and of the data derived from them, in one namespace. */
export const createCatalogStorage = (kv: KVNamespace) => ({
  catalogs: createCatalogPort(kv),
  ...createIndexParts(kv),
  findText: (serverId: string, hash: string) => findCatalogText(kv, serverId, hash),
});

const createCatalogPort = (kv: KVNamespace): CatalogPort => ({
  put: (serverId, hash, text) => putCatalogText(kv, serverId, hash, text),
  find: (serverId, hash) => findCatalogText(kv, serverId, hash),
  delete: (serverId, hash) => deleteUnder(kv, key(serverId, hash)),
});

/** Deletes every catalog of a server, and the data derived from each. */
export function deleteCatalogs(kv: KVNamespace, serverId: string): Promise<void> {
  return deleteUnder(kv, key(serverId, ''));
}

/** Deletes everything under a key prefix, page by page: KV may list a deleted key for a while, so no page is listed twice. */
async function deleteUnder(kv: KVNamespace, prefix: string): Promise<void> {
  for (let cursor: string | null = null; ;) {
    const page: KVNamespaceListResult<unknown> = await kv.list({ prefix, cursor });
    await Promise.all(page.keys.map(({ name }) => kv.delete(name)));
    if (page.list_complete) return;
    ({ cursor } = page);
  }
}
