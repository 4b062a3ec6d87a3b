/** Deleting the catalogs of a server whose keys KV still lists for a while. */
import { expect, it } from 'vitest';
import { deleteCatalogs } from '../../../src/monitor/catalog-kv.ts';

it('[REG-4] deletes every page once, though deleted keys are still listed', async () => {
  const deleted: string[] = [];
  let lists = 0;
  const pages = [['catalog/s/a', 'catalog/s/b'], ['catalog/s/c']];
  const kv = {
    async list({ cursor }: { cursor?: string | null }) {
      lists += 1;
      if (lists > 10) throw new Error('it never ends');
      const at = Number(cursor ?? 0);
      const keys = pages[at]?.map(name => ({ name })) ?? [];
      const isLast = at === pages.length - 1;
      return isLast
        ? { keys, list_complete: true }
        : { keys, list_complete: false, cursor: String(at + 1) };
    },
    delete: async (name: string) => void deleted.push(name),
  } as unknown as KVNamespace;
  await deleteCatalogs(kv, 's');
  expect(deleted).toEqual(pages.flat());
});
