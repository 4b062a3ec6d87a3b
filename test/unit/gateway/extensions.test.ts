/** Which extensions a client declared, also with malformed metadata. */
import { expect, it } from 'vitest';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import { takesOtherTypes } from '../../../src/gateway/extensions.ts';

it('[MCP-4] an extension counts as declared only if the client declared one that the server has', async () => {
  const catalog = parseCatalog(
    'h',
    JSON.stringify({ capabilities: { extensions: { a: {}, b: {} } } }),
  );
  const declares = (meta?: unknown) =>
    takesOtherTypes(
      new Map(meta === undefined ? [] : [['_meta', JSON.stringify(meta)]]),
      catalog,
      undefined,
    );
  const key = 'io.modelcontextprotocol/clientCapabilities';
  expect(await declares({ [key]: { extensions: { b: {} } } })).toBe(true);
  const odd = [undefined, null, 7, [], {}, { [key]: null }, { [key]: { extensions: null } }];
  const others = [{ [key]: { extensions: { c: {} } } }, { [key]: { extensions: { a: true } } }];
  for (const meta of [...odd, ...others])
    expect([meta, await declares(meta)]).toEqual([meta, false]);
});
