/**
 * Catalog texts in KV under `catalog/{server}/{hash}`: written once, never changed, so that KV's
 * staleness does not matter.
 */

const key = (serverId: string, hash: string) => `catalog/${serverId}/${hash}`;

export async function findCatalogText(
  kv: KVNamespace,
  serverId: string,
  hash: string,
): Promise<string | undefined> {
  return (await kv.get(key(serverId, hash))) ?? undefined;
}

export function putCatalogText(
  kv: KVNamespace,
  serverId: string,
  hash: string,
  text: string,
): Promise<void> {
  return kv.put(key(serverId, hash), text);
}

export function deleteCatalogText(kv: KVNamespace, serverId: string, hash: string): Promise<void> {
  return kv.delete(key(serverId, hash));
}

/** Delete every catalog of a server, page by page. */
export async function deleteCatalogs(kv: KVNamespace, serverId: string): Promise<void> {
  for (;;) {
    const page = await kv.list({ prefix: `catalog/${serverId}/` });
    await Promise.all(page.keys.map(({ name }) => kv.delete(name)));
    if (page.list_complete || page.keys.length === 0) return;
  }
}
