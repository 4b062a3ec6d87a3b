/**
 * Catalog texts in KV under `catalog/{server}/{hash}`: written once, never changed, so that KV's
 * staleness does not matter.
 */
import type { CatalogPort } from './catalog-keeper.ts';

const key = (serverId: string, hash: string) => `catalog/${serverId}/${hash}`;

export async function findCatalogText(
  kv: KVNamespace,
  serverId: string,
  hash: string,
): Promise<string | undefined> {
  return (await kv.get(key(serverId, hash))) ?? undefined;
}

function putCatalogText(
  kv: KVNamespace,
  serverId: string,
  hash: string,
  text: string,
): Promise<void> {
  return kv.put(key(serverId, hash), text);
}

function deleteCatalogText(kv: KVNamespace, serverId: string, hash: string): Promise<void> {
  return kv.delete(key(serverId, hash));
}

/** The catalogs of one namespace, for the keeper. */
export const createCatalogPort = (kv: KVNamespace): CatalogPort => ({
  put: (serverId, hash, text) => putCatalogText(kv, serverId, hash, text),
  delete: (serverId, hash) => deleteCatalogText(kv, serverId, hash),
});

/** Delete every catalog of a server, page by page. */
export async function deleteCatalogs(kv: KVNamespace, serverId: string): Promise<void> {
  for (;;) {
    const page = await kv.list({ prefix: `catalog/${serverId}/` });
    await Promise.all(page.keys.map(({ name }) => kv.delete(name)));
    if (page.list_complete || page.keys.length === 0) return;
  }
}
