/** Caching fields of modern lists: the minimum over the servers, within our own bound, never shared. */
import { describe, expect, it } from 'vitest';
import { FakeServer, serve, type FakeServerOptions } from '../support/fake-server.ts';
import {
  ask,
  createPortico,
  createToken,
  registerConnected,
  type RpcAnswer,
} from '../support/portico.ts';

const CEILING_MS = 5_000;

/** Creates servers with these list results; `ttlOf` reads a list over some of them. */
async function createServers(
  members: Record<string, { era?: FakeServerOptions['era']; list: object }>,
) {
  const fakes = Object.entries(members).map(([name, { era = 'modern', list }]) => {
    return [name, new FakeServer({ era, listMembers: list })] as const;
  });
  serve(Object.fromEntries(fakes));
  const portico = createPortico();
  for (const [name] of fakes) await registerConnected(portico, name);
  return async (servers: string[]) => {
    const { token } = await createToken(portico, { servers });
    const { message, headers } = ask('modern', 'tools/list');
    const response = await portico.post(message, { headers, token });
    const { ttlMs, cacheScope } = (await response.json<RpcAnswer>()).result ?? {};
    return [ttlMs, cacheScope];
  };
}

describe('ttlMs and cacheScope of a list', () => {
  it('[MCP-4] are the minimum over the visible servers, and private', async () => {
    const read = await createServers({
      long: { list: { ttlMs: 300_000, cacheScope: 'public' } },
      short: { list: { ttlMs: 2_000, cacheScope: 'public' } },
      none: { list: { ttlMs: 0, cacheScope: 'private' } },
      old: { era: 'legacy', list: {} },
    });
    expect(await read(['long'])).toEqual([CEILING_MS, 'private']);
    expect(await read(['old'])).toEqual([CEILING_MS, 'private']);
    expect(await read(['long', 'short', 'old'])).toEqual([2_000, 'private']);
    expect(await read(['long', 'short', 'none'])).toEqual([0, 'private']);
  });

  it('[MCP-4] are valid, whatever a server sends', async () => {
    const read = await createServers({
      negative: { list: { ttlMs: -7 } },
      text: { list: { ttlMs: 'soon' } },
      broken: { list: { ttlMs: 1_999.5 } },
      vast: { list: { ttlMs: 1e300 } },
    });
    expect(await read(['negative'])).toEqual([0, 'private']);
    expect(await read(['text'])).toEqual([CEILING_MS, 'private']);
    expect(await read(['broken'])).toEqual([1_000, 'private']);
    expect(await read(['vast'])).toEqual([CEILING_MS, 'private']);
  });
});
