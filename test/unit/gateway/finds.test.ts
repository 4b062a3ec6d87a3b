/** Looking up single items: a tool by its name, the tools of search hits, and a resource for a subscription. */
import type { Naming, VisibleServers } from '../../../src/gateway/viewer.ts';
import type { Found } from '../../../src/gateway/search.ts';
import { describe, expect, it } from 'vitest';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import { createCaller } from '../access/callers.ts';
import { createRecord, createFakeGateway } from './fakes.ts';

const caller = createCaller();
const alpha = createRecord('alpha');
const visible: VisibleServers = { servers: [alpha, createRecord('beta')] };
const dot: Naming = { kind: 'qualified', style: 'dot' };
const own: Naming = { kind: 'own', serverId: alpha.id };

describe('a tool', () => {
  const gateway = createFakeGateway();

  it('[MCP-8] [MCP-9] is found under its listed name, or not at all', async () => {
    expect(await gateway.find({ caller, visible, naming: dot }, 'alpha.echo')).toMatchObject({
      name: 'alpha.echo',
      server: alpha,
      item: { key: 'echo' },
    });
    expect(await gateway.find({ caller, visible, naming: own }, 'echo')).toMatchObject({
      name: 'echo',
    });
    for (const [naming, name] of [
      [dot, 'alpha.none'],
      [own, 'none'],
    ] as const) {
      await expect(gateway.find({ caller, visible, naming }, name)).rejects.toMatchObject({
        code: 'tool_not_found',
        message: `Tool not found: ${name}`,
      });
    }
  });

  it('[FIND-1] is returned for a search hit, unless it no longer exists', async () => {
    const tool = (name: string, score: number) => ({
      server: alpha,
      tool: name,
      score,
      skills: undefined,
    });
    const found: Found = {
      tools: [tool('gone', 3), tool('echo', 2), tool('get.sum', 1)],
      serversSearched: 2,
      toolsSearched: 5,
    };
    const { search } = createFakeGateway({ findTools: () => Promise.resolve(found) });
    const { hits, ...counts } = await search({ caller, visible, naming: dot }, {
      query: 'x',
      limit: 5,
    } as never);
    expect(hits).toMatchObject([
      { name: 'alpha.echo', server: alpha, score: 2, item: { key: 'echo' } },
      { name: 'alpha.get.sum', server: alpha, score: 1 },
    ]);
    expect(hits).toHaveLength(2);
    expect(counts).toEqual({ serversSearched: 2, toolsSearched: 5 });
  });
});

describe('a resource subscription', () => {
  const gatewayWith = (resources: object) =>
    createFakeGateway({
      catalogOf: ({ catalogHash }) =>
        parseCatalog(
          catalogHash ?? '',
          JSON.stringify({
            resources: [{ uri: 'note://a', name: 'a' }],
            capabilities: { resources },
          }),
        ),
    });
  const { subscription } = gatewayWith({ subscribe: true });

  it('[MCP-4] [MCP-8] uses the server’s own URI, and reports the requested one', async () => {
    expect(await subscription({ caller, visible, naming: dot }, 'alpha+note://a')).toEqual({
      serverId: alpha.id,
      uri: 'note://a',
      as: 'alpha+note://a',
      qualifier: 'alpha',
    });
    expect(await subscription({ caller, visible, naming: own }, 'note://a')).toEqual({
      serverId: alpha.id,
      uri: 'note://a',
      as: 'note://a',
    });
  });

  it('[MCP-4] [MCP-9] is refused if the resource is unknown or its server offers no subscriptions', async () => {
    await expect(
      subscription({ caller, visible, naming: dot }, 'none+note://a'),
    ).rejects.toMatchObject({
      code: 'resource_not_found',
    });
    await expect(
      gatewayWith({}).subscription({ caller, visible, naming: dot }, 'alpha+note://a'),
    ).rejects.toMatchObject({
      code: 'method_not_found',
      message: 'alpha offers no subscriptions',
    });
  });
});
