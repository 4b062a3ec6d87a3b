/** Admission to an endpoint: the order of its checks, and which endpoints do not exist for a caller. */
import type { McpPorts } from '../../../src/mcp/ports.ts';
import { describe, expect, it } from 'vitest';
import type { AccessState } from '../../../src/access/policy/policy.ts';
import type { Snapshot } from '../../../src/access/admission/snapshots.ts';
import { createTokenValue } from '../../../src/shared/identity/principal.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { admit, findViewer, liveSession } from '../../../src/mcp/admit.ts';
import type { Endpoint } from '../../../src/mcp/endpoint.ts';
import { createCaller, OPEN } from '../../unit/access/callers.ts';
import { catalogOf, createFakeGateway, createRecord } from '../../unit/gateway/fakes.ts';

const TOKEN = createTokenValue();
const FACTS = { id: 'row', principalId: 'p', protocolVersion: '2025-11-25' };
const alpha = createRecord('alpha');
const servers = [alpha, createRecord('beta')];
const ALL: Endpoint = { origin: 'http://127.0.0.1:8787', path: '/mcp' };
const ONE: Endpoint = {
  origin: 'http://127.0.0.1:8787',
  path: '/mcp/servers/alpha',
  serverName: 'alpha',
};
const waitUntil = () => {};

/** Ports that return this snapshot; notes their calls. */
function createWorld(snapshot: Snapshot | undefined, isAlive = true) {
  const loads: unknown[][] = [];
  const alive: unknown[][] = [];
  const looks: string[] = [];
  const { visible } = createFakeGateway({
    catalogOf: server => (looks.push(server.name), catalogOf(server)),
  });
  const ports = {
    config: { nameStyle: 'dot', tools: 'all' },
    gateway: { visible },
    snapshots: {
      load: (...given: unknown[]) => Promise.resolve((loads.push(given), snapshot)),
    },
    sessions: {
      facts: (sealed: string) => Promise.resolve(sealed === 'sealed' ? FACTS : undefined),
      isAlive: (...given: unknown[]) => (alive.push(given), isAlive),
    },
  } as unknown as McpPorts;
  return { ports, loads, alive, looks };
}
const requestWith = (headers: Record<string, string>) =>
  new Request('https://a.example.com/mcp', { headers });
const bearer = { authorization: `Bearer ${TOKEN}` };
const whole: Snapshot = { caller: createCaller(), servers, access: OPEN };
const never = () => {
  throw new Error('the endpoint is not looked at');
};

describe('a request', () => {
  it('[ACC-1] without a token reads nothing and learns nothing of the endpoint', async () => {
    const { ports, loads } = createWorld(whole);
    for (const headers of [{}, { authorization: 'Bearer x' }, { 'mcp-session-id': 'sealed' }]) {
      const request = requestWith(headers as Record<string, string>);
      await expect(admit(request, never, ports, waitUntil)).rejects.toMatchObject({
        code: 'unauthorized',
      });
    }
    expect(loads).toEqual([]);
  });

  it('[ACC-1] with an unknown token learns nothing of the endpoint', async () => {
    const { ports, loads } = createWorld(undefined);
    const admitted = admit(requestWith(bearer), never, ports, waitUntil);
    await expect(admitted).rejects.toMatchObject({ code: 'unauthorized' });
    expect(loads).toHaveLength(1);
  });

  it('[ACC-1] [MCP-10] is admitted with its session, and again on a snapshot as fresh as required', async () => {
    const { ports, loads } = createWorld(whole);
    const request = requestWith({ ...bearer, 'mcp-session-id': 'sealed' });
    const admitted = await admit(request, () => ALL, ports, waitUntil);
    expect(admitted).toMatchObject({ endpoint: ALL, snapshot: whole, facts: FACTS });
    expect(admitted.incoming).toBe(request);
    expect(admitted.waitUntil).toBe(waitUntil);
    expect(admitted.viewer.visible.servers).toEqual(servers);
    const again = await admitted.again(5, 7);
    expect(again.endpoint).toBe(ALL);
    const other = requestWith({ ...bearer, 'mcp-session-id': 'forged' });
    expect((await admit(other, () => ALL, ports, waitUntil)).facts).toBeUndefined();
    expect((await admit(requestWith(bearer), () => ALL, ports, waitUntil)).facts).toBeUndefined();
    expect(loads).toEqual([
      [TOKEN, 'row', waitUntil, undefined, undefined],
      [TOKEN, 'row', waitUntil, 5, 7],
      [TOKEN, undefined, waitUntil, undefined, undefined],
      [TOKEN, undefined, waitUntil, undefined, undefined],
    ]);
  });

  it('[MCP-3] gets an error that explains its invalid endpoint', async () => {
    const { ports } = createWorld(whole);
    const endpoint = () => {
      throw new PorticoError('invalid_params');
    };
    const admitted = admit(requestWith(bearer), endpoint, ports, waitUntil);
    await expect(admitted).rejects.toMatchObject({ code: 'invalid_params' });
  });
});

describe('an endpoint', () => {
  const NO_SUCH = { code: 'not_found', message: 'No such endpoint' };
  const denying = (tool: string): AccessState => ({
    ...OPEN,
    rules: [
      {
        id: 'r',
        effect: 'deny',
        subject: { kind: 'everyone' },
        server: 'alpha',
        tool,
        readOnly: false,
      },
    ],
  });
  const scoped = (
    endpoint: Endpoint,
    caller = whole.caller,
    within: Snapshot['servers'] = servers,
  ) => {
    const world = createWorld(whole);
    const snapshot = { ...whole, caller, servers: within };
    return { ...world, scope: findViewer(endpoint, snapshot, world.ports) };
  };

  it('[MCP-3] of one server exists for a caller who sees all of it, without reading a list', async () => {
    const { scope, looks } = scoped(ONE);
    expect(await scope).toMatchObject({ naming: { kind: 'own', serverId: alpha.id } });
    expect(looks).toEqual([]);
  });

  it('[ACC-3] [MCP-9] of an unknown or hidden server does not exist', async () => {
    const hidden = createCaller({ servers: ['id-beta'] });
    const none = createCaller({}, ['tools:read'], denying('*'));
    for (const { scope } of [
      scoped({ ...ALL, path: '/x', serverName: 'none' }),
      scoped(ONE, hidden),
      scoped(ONE, none),
      scoped(ONE, whole.caller, []),
      scoped({ ...ALL, path: '/y', toolsetName: 'none' }),
    ]) {
      await expect(scope).rejects.toMatchObject(NO_SUCH);
    }
  });

  it('[ACC-3] [MCP-9] of a server exists as long as one of its tools is visible', async () => {
    const oneTool = createCaller({ tools: ['alpha.echo'] });
    const { scope, looks } = scoped(ONE, oneTool);
    expect((await scope).visible.servers).toEqual([alpha]);
    expect(looks).toEqual(['alpha']);
    const noTool = createCaller({ tools: ['alpha.none'] });
    await expect(scoped(ONE, noTool).scope).rejects.toMatchObject(NO_SUCH);
  });

  it('[MCP-3] of everything exists for everybody', async () => {
    const nobody = createCaller({ servers: [] });
    expect((await scoped(ALL, nobody).scope).visible.servers).toEqual([]);
    const noTool = createCaller({ tools: ['alpha.none'] });
    const { scope, looks } = scoped(ALL, noTool);
    expect((await scope).naming).toMatchObject({ kind: 'qualified', style: 'dot' });
    expect(looks).toEqual([]);
  });
});

describe('a session', () => {
  const session = { id: 'row' } as Snapshot['session'] & object;
  const admitted = async (headers: Record<string, string>, world: ReturnType<typeof createWorld>) =>
    admit(requestWith({ ...bearer, ...headers }), () => ALL, world.ports, waitUntil);
  const GONE = { code: 'session_not_found' };

  it('[MCP-10] is absent if none is named', async () => {
    const world = createWorld(whole);
    expect(liveSession(await admitted({}, world), world.ports)).toBeUndefined();
    expect(world.alive).toEqual([]);
  });

  it('[MCP-10] is alive for its caller on its endpoint', async () => {
    const world = createWorld({ ...whole, session });
    const named = await admitted({ 'mcp-session-id': 'sealed' }, world);
    expect(liveSession(named, world.ports)).toBe('row');
    expect(world.alive).toEqual([[session, whole.caller, '/mcp', waitUntil]]);
  });

  it('[MCP-10] is not found if it is forged, or has ended', async () => {
    const world = createWorld({ ...whole, session });
    const forged = await admitted({ 'mcp-session-id': 'forged' }, world);
    expect(() => liveSession(forged, world.ports)).toThrow(expect.objectContaining(GONE));
    const over = createWorld({ ...whole, session }, false);
    const named = await admitted({ 'mcp-session-id': 'sealed' }, over);
    expect(() => liveSession(named, over.ports)).toThrow(expect.objectContaining(GONE));
  });
});
