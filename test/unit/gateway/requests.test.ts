/** Requests to servers: what is sent, under which conditions, and which results may come back. */
import type { Naming, VisibleServers } from '../../../src/gateway/viewer.ts';
import { describe, expect, it } from 'vitest';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import type { GatewayPorts } from '../../../src/gateway/gateway-of.ts';
import type { RelayedRequest } from '../../../src/gateway/gateway.ts';
import type { CallContext } from '../../../src/upstream/protocol/call.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import type { OutboundRequest } from '../../../src/upstream/protocol/wire-request.ts';
import { createCaller } from '../access/callers.ts';
import { createFakeGateway, createRecord } from './fakes.ts';

const CALLER = createCaller();
const dot: Naming = { kind: 'qualified', style: 'dot' };
const TASKS = 'io.modelcontextprotocol/tasks';
const UI = 'io.modelcontextprotocol/ui';
const OWN = 'com.example/own';
const ITEMS = {
  tools: [
    { name: 'echo', inputSchema: {} },
    {
      name: 'mirror',
      inputSchema: {
        type: 'object',
        properties: { city: { type: 'string', 'x-mcp-header': 'City' } },
      },
    },
  ],
  prompts: [
    { name: 'ask' },
    {
      name: 'odd',
      inputSchema: { properties: { city: { type: 'string', 'x-mcp-header': 'City' } } },
    },
  ],
};

interface Sent {
  to: string;
  request: OutboundRequest;
  mirrored: string | undefined;
}

/** @param answer the answer of every server */
function createRequests(
  capabilities: Record<string, object> = {},
  answer: Record<string, unknown> = {},
  ports: Partial<GatewayPorts> = {},
) {
  const sent: Sent[] = [];
  const gateway = createFakeGateway({
    catalogOf: ({ name, catalogHash }) =>
      parseCatalog(
        catalogHash ?? '',
        JSON.stringify({ ...ITEMS, capabilities: capabilities[name] ?? {} }),
      ),
    send(to, request, mirrored) {
      sent.push({ to: to.name, request, mirrored });
      const result = JSON.stringify(answer);
      return Promise.resolve({ response: { kind: 'response', result, parsed: answer } });
    },
    ...ports,
  });
  const ask = (
    more: Partial<RelayedRequest> = {},
    context: Partial<CallContext> = {},
    within: VisibleServers = { servers: [createRecord('a'), createRecord('b')] },
    naming = dot,
  ) =>
    gateway.request(
      { caller: CALLER, visible: within, naming },
      {
        method: 'tools/call',
        reference: { kind: 'tool', name: naming.kind === 'own' ? 'echo' : 'a.echo' },
        params: new Map(),
        ...more,
      },
      {
        signal: new AbortController().signal,
        owner: () => 'o',
        waitUntil: () => {},
        capabilities: {},
        questions: 'suspend',
        ...context,
      },
    );
  return { ask, sent };
}
const paramsOf = (params: Record<string, unknown>) =>
  new Map(Object.entries(params).map(([key, value]) => [key, JSON.stringify(value)]));
const declaring = (...names: string[]) => {
  const extensions = Object.fromEntries(names.map(name => [name, {}]));
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { extensions } };
  return { params: paramsOf({ _meta: meta }) };
};
const ofEra = (name: string, era: 'legacy' | 'modern'): Server =>
  createRecord(name, {
    verdict: { era, protocolVersion: '', transport: 'http', sessionful: false },
  });

describe('a request as it is sent', () => {
  it('[MCP-7] mirrors its name, except for a completion', async () => {
    const { ask, sent } = createRequests();
    await ask();
    await ask({ method: 'prompts/get', reference: { kind: 'prompt', name: 'a.ask' } });
    await ask({
      method: 'completion/complete',
      reference: { kind: 'prompt', name: 'a.ask' },
      params: paramsOf({ ref: { type: 'ref/prompt', name: 'a.ask' }, argument: {} }),
    });
    expect(sent.map(({ mirrored }) => mirrored)).toEqual(['echo', 'ask', undefined]);
    expect([...(sent[2]?.request.params ?? [])]).toEqual([
      ['ref', '{"type":"ref/prompt","name":"ask"}'],
      ['argument', '{}'],
    ]);
    expect([...(sent[1]?.request.params ?? [])]).toEqual([['name', '"ask"']]);
  });

  it('[MCP-7] mirrors the parameters that a tool declares, and checks those of the caller', async () => {
    const { ask, sent } = createRequests();
    const reference = { kind: 'tool', name: 'a.mirror' } as const;
    const params = paramsOf({ arguments: { city: 'Graz' } });
    await ask({ reference, params });
    await ask({ reference, params, readHeader: () => 'Graz' });
    await ask();
    expect(
      sent.map(({ request: { paramHeaders } }) => paramHeaders && Object.entries(paramHeaders)),
    ).toEqual([[['mcp-param-city', 'Graz']], [['mcp-param-city', 'Graz']], undefined]);
    // Only for a tool, even if a prompt declares the same.
    await ask({ method: 'prompts/get', reference: { kind: 'prompt', name: 'a.odd' }, params });
    expect(sent.pop()?.request.paramHeaders).toBeUndefined();
    await expect(ask({ reference, params, readHeader: () => 'Wien' })).rejects.toMatchObject({
      code: 'header_mismatch',
    });
    expect(sent).toHaveLength(3);
  });

  it('[MCP-4] asks for log messages if the caller wants some and the server has them', async () => {
    const { ask, sent } = createRequests({ a: { logging: {} } });
    await ask({ logLevel: 'warning' });
    await ask({ logLevel: 'none' });
    await ask();
    await ask({ logLevel: 'warning', reference: { kind: 'tool', name: 'b.echo' } });
    expect(sent.map(({ request: { logLevel } }) => logLevel)).toEqual([
      'warning',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('[MCP-7] may be answered with a task, which is not detected if the client did not ask for tasks', async () => {
    const { ask } = createRequests({}, { resultType: 'task', taskId: 'own' });
    const idFor = async (tasks?: 'modern') => {
      const { reply } = await ask({ tasks }, {}, { servers: [ofEra('a', 'modern')] });
      const response = 'response' in reply ? reply.response : undefined;
      return response && 'result' in response && JSON.parse(response.result).taskId;
    };
    expect(await idFor()).toBe('own');
    expect(await idFor('modern')).toMatch(/^k1\./);
  });

  it("[MCP-4] asks for a task only in the form of its server's era", async () => {
    const { ask, sent } = createRequests();
    for (const era of ['legacy', 'modern'] as const) {
      for (const tasks of [undefined, 'legacy', 'modern'] as const) {
        await ask({ tasks }, {}, { servers: [ofEra('a', era)] });
      }
    }
    await ask({}, {}, { servers: [createRecord('a')] });
    expect(sent.map(({ request: { tasks } }) => tasks)).toEqual([
      undefined,
      true,
      undefined,
      undefined,
      undefined,
      true,
      undefined,
    ]);
  });
});

describe('results of a type that an extension defines', () => {
  const extensions = { [OWN]: {}, [TASKS]: {}, [UI]: {} };
  const own: Naming = { kind: 'own', serverId: 'id-a' };

  it('[MCP-7] pass if the client declared the extension and its server is unambiguous', async () => {
    const { ask } = createRequests({ a: { extensions } });
    const takes = async (more: object, naming?: Naming) =>
      (await ask(more, {}, undefined, naming)).takesOtherTypes;
    expect(await takes(declaring(OWN))).toBe(true);
    expect(await takes(declaring(OWN), own)).toBe(true);
    // The extensions common to all servers have no result types of their own.
    expect(await takes(declaring(TASKS, UI), own)).toBeUndefined();
    expect(await takes(declaring('com.example/other'), own)).toBeUndefined();
    expect(await takes({}, own)).toBeUndefined();
    expect(await takes({})).toBeUndefined();
  });

  it('[MCP-7] do not pass if two servers have it, except on the endpoint of one of them', async () => {
    const { ask } = createRequests({ a: { extensions }, b: { extensions } });
    expect((await ask(declaring(OWN))).takesOtherTypes).toBeUndefined();
    expect((await ask(declaring(OWN), {}, undefined, own)).takesOtherTypes).toBe(true);
  });

  it('[MCP-7] are looked up before the call is sent: no answer is lost to a catalog that cannot be read', async () => {
    const fail = () => Promise.reject(new Error('no catalogs'));
    const { ask, sent } = createRequests({ a: { extensions } }, {}, { catalogsOf: fail });
    await expect(ask(declaring(OWN))).rejects.toThrow('no catalogs');
    expect(sent).toEqual([]);
  });

  it('[MCP-7] do not pass if the server has no such extension', async () => {
    const { ask } = createRequests({ b: { extensions } });
    expect((await ask(declaring(OWN))).takesOtherTypes).toBeUndefined();
    expect((await ask(declaring(OWN), {}, undefined, own)).takesOtherTypes).toBeUndefined();
    const odd = createRequests({ a: { extensions: [OWN] } });
    expect((await odd.ask(declaring('0'), {}, undefined, own)).takesOtherTypes).toBeUndefined();
  });
});
