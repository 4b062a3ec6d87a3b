/** The gateway on plain fakes: who sees what, what a name resolves to, and what is never called. */
import type { Caller } from '../../../src/access/policy/caller.ts';
import type { Naming, VisibleServers } from '../../../src/gateway/viewer.ts';
import { describe, expect, it } from 'vitest';
import { EMPTY_CATALOG } from '../../../src/servers/catalog/catalog.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import type { GatewayPorts } from '../../../src/gateway/gateway-of.ts';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import { ServerFailure } from '../../../src/gateway/server-failure.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { createCaller } from '../access/callers.ts';
import { catalogOf, createFakeGateway, createRecord } from './fakes.ts';

const visible: VisibleServers = {
  servers: ['alpha', 'alpha__beta', 'beta', 'off'].map(name => createRecord(name)),
};
const context: Parameters<Gateway['request']>[2] = {
  signal: new AbortController().signal,
  owner: () => 'o',
  waitUntil: () => {},
  capabilities: {},
  questions: 'suspend',
};
const everything = createCaller();
const restrictToCaller = createCaller({ servers: ['id-beta'] });
const dot: Naming = { kind: 'qualified', style: 'dot' };
const underscore: Naming = { kind: 'qualified', style: 'underscore' };
const ownOf = (key: string): Naming => ({ kind: 'own', serverId: `id-${key}` });

function createGateway(more: Partial<GatewayPorts> = {}) {
  const calls: string[] = [];
  const gateway = createFakeGateway({
    send(to, request) {
      calls.push(`${to.name} ${request.params.get('name')}`);
      return Promise.resolve({ response: { kind: 'response', result: '{}', parsed: {} } });
    },
    ...more,
  });
  return { gateway, calls };
}

/** Calls a tool by its name on the aggregate, or by its own on the endpoint of one server. */
function callTool(
  gateway: Gateway,
  caller: Caller,
  within: VisibleServers,
  name: string,
  naming = dot,
  params = new Map<string, string>(),
) {
  const request = { method: 'tools/call', reference: { kind: 'tool', name }, params } as const;
  return gateway.request({ caller, visible: within, naming }, request, context);
}

const listTools = async (gateway: Gateway, caller: Caller, within: VisibleServers, naming = dot) =>
  (await gateway.list({ caller, visible: within, naming }, 'tools')).items;

/** Code and message of the error that a call throws, which is all that a caller learns. */
async function refusalOf(
  run: Promise<unknown>,
): Promise<{ code: string; message: string; extras: unknown }> {
  try {
    await run;
  } catch (error) {
    if (error instanceof PorticoError)
      return { code: error.code, message: error.message, extras: error.extras };
    throw error;
  }
  throw new Error('it was not refused');
}

describe('a name', () => {
  it.each([
    ['alpha.echo', 'alpha "echo"'],
    ['alpha:echo', 'alpha "echo"'],
    ['alpha/echo', 'alpha "echo"'],
    ['alpha__echo', 'alpha "echo"'],
    ['alpha.get.sum', 'alpha "get.sum"'],
    ['alpha.a__b', 'alpha "a__b"'],
    ['alpha__a__b', 'alpha "a__b"'],
    ['alpha__beta.echo', 'alpha__beta "echo"'],
    ['alpha__beta__only', 'alpha__beta "only"'],
    ['alpha.x y', 'alpha "x y"'],
  ])('[MCP-8] [AG-US4-AC1] %s resolves to its tool', async (name, called) => {
    const { gateway, calls } = createGateway();
    await callTool(gateway, everything, visible, name);
    expect(calls).toEqual([called]);
  });

  it('[MCP-8] that was changed to fit a host is resolved through the catalog', async () => {
    const { gateway, calls } = createGateway();
    const listed = await listTools(gateway, everything, visible, underscore);
    for (const { name, server: owner, item } of listed) {
      calls.length = 0;
      await callTool(gateway, everything, visible, name);
      expect([name, calls]).toEqual([name, [`${owner.name} ${JSON.stringify(item.key)}`]]);
    }
    expect(listed).toHaveLength(7);
  });

  it('[REG-2] that was changed to fit a host resolves to the current server, though the list is cached', async () => {
    const called: string[] = [];
    const { gateway } = createGateway({
      send({ url }) {
        called.push(url);
        return Promise.resolve({ response: { kind: 'response', result: '{}', parsed: {} } });
      },
    });
    const before = { servers: [createRecord('alpha')] };
    const names = (await listTools(gateway, everything, before, underscore)).map(
      listed => listed.name,
    );
    const name = names.find(listed => listed.startsWith('alpha__x_y')) ?? '';
    const url = 'https://moved.example.com/mcp';
    const after = { servers: [createRecord('alpha', { url, revision: 2 })] };
    await callTool(gateway, everything, before, name);
    await callTool(gateway, everything, after, name);
    expect(called).toEqual(['https://a.example.com/mcp', url]);
  });

  it("[AG-US4-AC2] on a server's own endpoint needs no prefix", async () => {
    const { gateway, calls } = createGateway();
    await callTool(gateway, everything, visible, 'get.sum', ownOf('alpha'));
    expect(calls).toEqual(['alpha "get.sum"']);
  });

  it.each([
    ['alpha.none', 'tool_not_found', 'Tool not found: alpha.none'],
    ['none.echo', 'tool_not_found', 'Tool not found: none.echo'],
    ['ALPHA.echo', 'tool_not_found', 'Tool not found: ALPHA.echo'],
    ['alpha.', 'tool_not_found', 'Tool not found: alpha.'],
    ['alpha.__proto__', 'tool_not_found', 'Tool not found: alpha.__proto__'],
    ['constructor.constructor', 'tool_not_found', 'Tool not found: constructor.constructor'],
    ['echo', 'tool_name_unprefixed', 'Tool name must be prefixed with server key: echo'],
    ['.echo', 'tool_name_unprefixed', 'Tool name must be prefixed with server key: .echo'],
  ])('[MCP-9] %s is refused', async (name, code, message) => {
    const { gateway, calls } = createGateway();
    const run = callTool(gateway, everything, visible, name);
    expect(await refusalOf(run)).toMatchObject({ code, message });
    expect(calls).toEqual([]);
  });

  it('[AG-US4-AC3] of a disconnected server reports its state', async () => {
    const { gateway, calls } = createGateway();
    for (const [name, naming] of [
      ['off.echo', dot],
      ['echo', ownOf('off')],
    ] as const) {
      const run = callTool(gateway, everything, visible, name, naming);
      expect(await refusalOf(run)).toMatchObject({
        code: 'server_disconnected',
        extras: { data: { server: { id: 'id-off', name: 'off', status: 'DISCONNECTED' } } },
      });
    }
    expect(calls).toEqual([]);
  });
});

describe('access', () => {
  it.each(['.', ':', '__', '/', 'own'])(
    '[MCP-9] [ACC-3] hidden looks like unknown by %s',
    async kind => {
      const { gateway, calls } = createGateway();
      for (const hidden of ['alpha', 'off', 'alpha__beta']) {
        const [name, naming] =
          kind === 'own' ? ['echo', ownOf(hidden)] : [`${hidden}${kind}echo`, dot];
        const alone: VisibleServers = {
          servers: visible.servers.filter(server => server.name === 'beta'),
        };
        const answer = await refusalOf(callTool(gateway, restrictToCaller, visible, name, naming));
        expect(answer).toEqual(await refusalOf(callTool(gateway, everything, alone, name, naming)));
        expect(answer).toEqual({
          code: 'tool_not_found',
          message: `Tool not found: ${name}`,
          extras: {},
        });
      }
      expect(calls).toEqual([]);
    },
  );

  it('[ACC-3] lists what may be called and calls what is listed, in every style', async () => {
    const { gateway, calls } = createGateway();
    for (const style of ['dot', 'colon', 'underscore'] as const) {
      const listed = await listTools(gateway, restrictToCaller, visible, {
        kind: 'qualified',
        style,
      });
      expect(listed.map(({ server: owner, item }) => `${owner.name} ${item.key}`)).toEqual([
        'beta echo',
      ]);
      for (const { name } of listed) {
        await callTool(gateway, restrictToCaller, visible, name);
      }
    }
    expect(calls).toEqual(['beta "echo"', 'beta "echo"', 'beta "echo"']);
  });

  it('[ACC-3] never mixes the cached lists of two callers', async () => {
    const { gateway } = createGateway();
    const before = await listTools(gateway, everything, visible);
    expect(await listTools(gateway, restrictToCaller, visible)).toHaveLength(1);
    expect(await listTools(gateway, createCaller({ servers: [] }), visible)).toHaveLength(0);
    expect(await listTools(gateway, everything, visible)).toBe(before);
    expect(before).toHaveLength(7);
  });

  it('[ACC-2] requires the scope of each verb', async () => {
    const { gateway, calls } = createGateway();
    const reader: Caller = { ...everything, scopes: new Set(['tools:read']) };
    const writer: Caller = { ...everything, scopes: new Set(['tools:call']) };
    expect(await refusalOf(callTool(gateway, reader, visible, 'alpha.echo'))).toMatchObject({
      code: 'forbidden',
    });
    expect(await refusalOf(listTools(gateway, writer, visible))).toMatchObject({
      code: 'forbidden',
    });
    expect(calls).toEqual([]);
  });

  it('[ACC-3] can only restrict the visible servers', async () => {
    const { gateway } = createGateway();
    const wider = createCaller({ servers: ['id-beta', 'id-alpha', 'id-elsewhere'] });
    const small: VisibleServers = { servers: [createRecord('beta')] };
    const listed = await listTools(gateway, wider, small);
    expect(listed.map(({ name }) => name)).toEqual(['beta.echo']);
  });
});

describe('the gateway', () => {
  it('[MCP-7] replaces the name and keeps all other params', async () => {
    let sent = new Map<string, string>();
    const { gateway } = createGateway({
      send(_server, request) {
        sent = request.params;
        return Promise.resolve({ response: { kind: 'response', result: '{}', parsed: {} } });
      },
    });
    const params = new Map([
      ['arguments', '{"n":1.0}'],
      ['name', '"alpha.echo"'],
      ['_meta', '{}'],
      ['vendor', '1e400'],
    ]);
    await callTool(gateway, everything, visible, 'alpha.echo', dot, params);
    expect([...sent]).toEqual([
      ['arguments', '{"n":1.0}'],
      ['name', '"echo"'],
      ['_meta', '{}'],
      ['vendor', '1e400'],
    ]);
    expect(params.get('name')).toBe('"alpha.echo"');
  });

  it('[MCP-12] reports which server failed', async () => {
    const { gateway } = createGateway({
      send: () => Promise.reject(new PorticoError('upstream_timeout')),
    });
    const run = callTool(gateway, everything, visible, 'beta.echo');
    const failure: unknown = await run.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ServerFailure);
    expect(failure).toMatchObject({
      server: { name: 'beta' },
      reason: { code: 'upstream_timeout' },
    });
  });

  it('[MCP-12] does not cache a list with a missing catalog', async () => {
    let lost = true;
    const { gateway } = createGateway({
      catalogOf: each => (lost && each.name === 'beta' ? EMPTY_CATALOG : catalogOf(each)),
    });
    expect(await listTools(gateway, everything, visible)).toHaveLength(6);
    lost = false;
    expect(await listTools(gateway, everything, visible)).toHaveLength(7);
  });

  it('[REG-5] builds a new list when a catalog, a name or a state changes', async () => {
    const { gateway } = createGateway();
    const names = async (changed: Server) =>
      (await listTools(gateway, everything, { servers: [changed] })).map(({ name }) => name);
    const base = createRecord('beta');
    expect(await names(base)).toEqual(['beta.echo']);
    expect(await names({ ...base, name: 'alpha__beta' })).toEqual([
      'alpha__beta.echo',
      'alpha__beta.only',
    ]);
    expect(await names({ ...base, status: 'DISCONNECTED' })).toEqual([]);
    const before = await listTools(gateway, everything, { servers: [base] });
    expect(
      await listTools(gateway, everything, { servers: [{ ...base, catalogHash: 'next' }] }),
    ).not.toBe(before);
  });
});
