/** A link through the gateway: out in a result, back in a request, and never to another server than its own. */
import type { Naming, VisibleServers } from '../../../src/gateway/viewer.ts';
import { describe, expect, it } from 'vitest';
import { NOTHING } from '../../../src/access/policy/view.ts';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { createCaller } from '../access/callers.ts';
import { createFakeGateway, createRecord } from './fakes.ts';

const CATALOG = JSON.stringify({
  tools: [{ name: 'link', inputSchema: { type: 'object' } }],
  resources: [{ uri: 'note://1', name: 'one' }],
  resourceTemplates: [{ uriTemplate: 'day://{date}', name: 'day' }],
  capabilities: { tools: {}, resources: {} },
});
const EMPTY = JSON.stringify({ capabilities: {} });
/** Two servers with the same URI, and one without. */
const servers = ['alpha', 'beta', 'gamma'].map(name => createRecord(name));
const qualified: Naming = { kind: 'qualified', style: 'dot' };
const caller = createCaller();

const calls: string[] = [];
const gateway = createFakeGateway({
  catalogOf: ({ name }) => parseCatalog(`hash-${name}`, name === 'gamma' ? EMPTY : CATALOG),
  send(to, { params }) {
    calls.push(`${to.name} ${params.get('uri') ?? params.get('name')}`);
    const parsed: JsonObject = { content: [{ type: 'resource_link', uri: 'day://1', name: 'd' }] };
    return Promise.resolve({
      response: { kind: 'response', result: JSON.stringify(parsed), parsed },
    });
  },
});
const context: Parameters<typeof gateway.request>[2] = {
  signal: new AbortController().signal,
  owner: () => 'o',
  waitUntil: () => {},
  capabilities: {},
  questions: 'suspend',
};

async function read(visible: VisibleServers, uri: string): Promise<string | undefined> {
  calls.length = 0;
  const reference = { kind: 'resource', name: uri } as const;
  const request = { method: 'resources/read', reference, params: new Map() } as const;
  await gateway.request({ caller, visible, naming: qualified }, request, context);
  return calls[0];
}

async function callLink(naming: Naming, name: string): Promise<unknown> {
  const reference = { kind: 'tool', name } as const;
  const request = { method: 'tools/call', reference, params: new Map() } as const;
  const { reply, toResult } = await gateway.request(
    { caller, visible: { servers }, naming },
    request,
    context,
  );
  if (!('response' in reply) || !('result' in reply.response)) throw new Error('no result');
  const { result, parsed } = reply.response;
  const { content } = JSON.parse(toResult?.(result, parsed) ?? result) as {
    content: { uri: string }[];
  };
  return content[0]?.uri;
}

describe('a link', () => {
  it('[MCP-3] is read from the server that returned it, whatever others have', async () => {
    for (const name of ['alpha', 'beta']) {
      const uri = await callLink(qualified, `${name}.link`);
      expect(uri).toBe(`${name}+day://1`);
      expect(await read({ servers }, String(uri))).toBe(`${name} "day://1"`);
    }
  });

  it('[MCP-3] [MCP-7] is unchanged on the endpoint of its server', async () => {
    expect(await callLink({ kind: 'own', serverId: 'id-beta' }, 'link')).toBe('day://1');
  });
});

describe('a URI without a server', () => {
  it.each(['note://1', 'day://1'])(
    '[MCP-3] [SEC-8] %s of two servers is read from neither',
    async uri => {
      await expect(read({ servers }, uri)).rejects.toThrow(
        `ask for one of alpha+${uri}, beta+${uri}`,
      );
      expect(calls).toEqual([]);
    },
  );

  it.each(['note://1', 'day://1'])(
    '[MCP-3] [ACC-3] %s is ignored at a server where it is hidden',
    async uri => {
      const views = new Map([['id-alpha', NOTHING]]);
      expect(await read({ servers, views }, uri)).toBe(`beta ${JSON.stringify(uri)}`);
      expect(await read({ servers: servers.slice(1) }, uri)).toBe(`beta ${JSON.stringify(uri)}`);
      await expect(read({ servers: servers.slice(2) }, uri)).rejects.toThrow(
        `Resource not found: ${uri}`,
      );
    },
  );
});
