/** Third-party clients against upstreams of every kind: they get the same as directly from the upstream. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverything, startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { clientNames, clients, connectToSse } from '../support/sdk-clients.ts';
import type { McpClient } from '../support/sdk-clients.ts';

const kinds = ['legacy', 'modern', 'sse'] as const;
type Kind = (typeof kinds)[number];

const tools = ['image', 'audio', 'embedded', 'link', 'structured', 'ordered', 'unicode', 'refused'];
const upstreams: Upstream[] = [];
const direct = {} as Record<Kind, McpClient>;
let gateway: Gateway;

beforeAll(async () => {
  const [legacy, modern, sse, everythingSse, started] = await Promise.all([
    startFixture('rich-legacy'),
    startFixture('rich-modern'),
    startFixture('rich-sse'),
    startEverything('sse'),
    startGateway(),
  ]);
  upstreams.push(legacy, modern, sse, everythingSse);
  gateway = started;
  direct.legacy = await clients['SDK 1.x']({ url: `${legacy.origin}/mcp` });
  direct.modern = await clients['SDK 2.x auto']({ url: `${modern.origin}/mcp` });
  direct.sse = await connectToSse(`${sse.origin}/sse`);
  await Promise.all([
    gateway.register('legacy', `${legacy.origin}/mcp`),
    gateway.register('modern', `${modern.origin}/mcp`),
    gateway.register('sse', `${sse.origin}/sse`, { transport_type: 'SSE' }),
    gateway.register('everything', `${everythingSse.origin}/sse`, { transport_type: 'SSE' }),
  ]);
});

afterAll(async () => {
  await Promise.all(Object.values(direct).map(client => client.close()));
  await gateway?.stop();
  await Promise.all(upstreams.map(upstream => upstream.stop()));
});

const shown = ({ content, structuredContent, isError }: Record<string, unknown>) => ({
  content,
  structuredContent,
  isError,
});

describe.each(clientNames)('%s', name => {
  let client: McpClient;
  beforeAll(async () => {
    client = await clients[name]({ url: `${gateway.origin}/mcp`, token: gateway.adminToken });
  });
  afterAll(() => client?.close());

  it('[MCP-1] [MCP-3] [AG-US7-AC1] lists every server with its tools unchanged', async () => {
    const listed = await client.listTools();
    for (const kind of kinds) {
      const own = listed.filter(tool => tool.name.startsWith(`${kind}.`));
      const expected = await direct[kind].listTools();
      // The view of this tool has a qualified URI: see the matrix.
      const view = { _meta: expect.objectContaining({ ui: expect.anything() }) };
      const metaOf = ({ name: given }: (typeof expected)[number]) => (given === 'app' ? view : {});
      expect(own).toEqual(
        expected.map(tool => ({ ...tool, ...metaOf(tool), name: `${kind}.${tool.name}` })),
      );
    }
    expect(listed.map(tool => tool.name)).toContain('everything.echo');
  });

  it.each(kinds)('[MCP-5] [MCP-7] [AG-US4-AC5] [UP-1] gets results of %s unchanged', async kind => {
    for (const tool of tools) {
      const through = await client.callTool(`${kind}.${tool}`);
      // Links name the server that they are read from.
      const expected = JSON.stringify(shown(await direct[kind].callTool(tool)));
      expect(JSON.stringify(shown(through))).toBe(
        expected.replaceAll('"uri":"', `"uri":"${kind}+`),
      );
    }
  });

  it('[UP-1] [AG-US1-AC3] calls the public demo server over HTTP+SSE', async () => {
    const result = await client.callTool('everything.get-sum', { a: 1, b: 2 });
    expect(result['content']).toEqual([{ type: 'text', text: 'The sum of 1 and 2 is 3.' }]);
  });

  it('[MCP-3] lists and calls one server without the prefix', async () => {
    const url = `${gateway.origin}/mcp/servers/legacy`;
    const single = await clients[name]({ url, token: gateway.adminToken });
    try {
      expect(await single.listTools()).toEqual(await direct.legacy.listTools());
      const result = await single.callTool('echo', { message: 'one' });
      expect(result['content']).toEqual([{ type: 'text', text: 'Echo: one' }]);
      for (const tool of ['link', 'embedded']) {
        expect(shown(await single.callTool(tool))).toEqual(
          shown(await direct.legacy.callTool(tool)),
        );
      }
    } finally {
      await single.close();
    }
  });
});
