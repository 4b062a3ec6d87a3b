/** Which extensions a client declared, whatever stands where they should. */
import { expect, it } from 'vitest';
import { declaresOne } from '../../../src/gateway/extensions.ts';

it('[MCP-4] an extension is declared where its client says so, and nowhere else', () => {
  const declares = (meta?: unknown) =>
    declaresOne(new Map(meta === undefined ? [] : [['_meta', JSON.stringify(meta)]]), ['a', 'b']);
  const key = 'io.modelcontextprotocol/clientCapabilities';
  expect(declares({ [key]: { extensions: { b: {} } } })).toBe(true);
  const odd = [undefined, null, 7, [], {}, { [key]: null }, { [key]: { extensions: null } }];
  const others = [{ [key]: { extensions: { c: {} } } }, { [key]: { extensions: { a: true } } }];
  for (const meta of [...odd, ...others]) expect([meta, declares(meta)]).toEqual([meta, false]);
});
