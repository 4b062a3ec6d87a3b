/**
 * Catalog texts in KV under `catalog/{server}/{hash}`: written once, never changed, so that KV's
 * staleness does not matter. What is made of a catalog is under its key (`search/index/index-kv.ts`) and goes with it.
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

/** Those of many servers, in their order. */
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

/** What one namespace has of catalogs and of what is made of them. */
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

/** Delete every catalog of a server, and what is made of each. */
export function deleteCatalogs(kv: KVNamespace, serverId: string): Promise<void> {
  return deleteUnder(kv, key(serverId, ''));
}

/** Delete what is under a key, page by page. */
async function deleteUnder(kv: KVNamespace, prefix: string): Promise<void> {
  for (;;) {
    const page = await kv.list({ prefix });
    await Promise.all(page.keys.map(({ name }) => kv.delete(name)));
    if (page.list_complete || page.keys.length === 0) return;
  }
}
