/**
 * Tasks at the gateway: who reaches a task, that everybody else gets the same bytes as for an unknown task, and that no client gets a task
 * without asking for one.
 */
import { describe, expect, it, vi } from 'vitest';
import { createRandom, SEED } from '../../unit/seeded.ts';
import {
  ADMIN,
  PATIENT,
  createPortico,
  createToken,
  initialize,
  inSession,
  legacy,
  modern,
  registerConnected,
  type RpcAnswer,
  type Sent,
  WHOLE,
} from '../support/portico.ts';
import { serveTasks, TaskServer, TASKS } from '../support/task-server.ts';

const portico = createPortico();
const DECLARED = { extensions: { [TASKS]: {} } };
let count = 0;

/** A registered server with tasks. */
async function connect(era: 'legacy' | 'modern', hasTasks = true) {
  const name = `tasks${++count}-${era}`;
  const server = new TaskServer(era, hasTasks);
  serveTasks({ [name]: server });
  const { id } = await registerConnected(portico, name);
  return { id, name, server };
}

/** A modern request of a client that declares the extension, or something else. */
async function send(
  method: string,
  params: Record<string, unknown>,
  sent: Sent & { path?: string; declared?: object } = {},
) {
  const { message, headers } = modern(method, params);
  const meta = message.params._meta as Record<string, unknown>;
  meta['io.modelcontextprotocol/clientCapabilities'] = sent.declared ?? DECLARED;
  const named = params['taskId'];
  const mirrored = named === undefined ? headers : { ...headers, 'mcp-name': String(named) };
  const response = await portico.post(
    message,
    { ...sent, headers: { ...WHOLE, ...mirrored, ...sent.headers } },
    sent.path,
  );
  const text = await response.text();
  return { status: response.status, text, answer: JSON.parse(text) as RpcAnswer };
}

const make = async (name: string, sent: Parameters<typeof send>[2] = {}) => {
  const { answer } = await send('tools/call', { name: `${name}.echo` }, sent);
  return String(answer.result?.['taskId']);
};

async function sendLegacy(method: string, params: object, session: string, sent: Sent = {}) {
  const headers = inSession(session);
  const response = await portico.post(legacy(method, params), { ...sent, headers });
  return (await response.json()) as RpcAnswer;
}

const NOT_FOUND = { code: -32602, message: 'Task not found' };

describe('a modern task', () => {
  it('[MCP-4] [ACC-3] reaches its server for its principal, and looks unknown to everybody else', async () => {
    const { id, name, server } = await connect('modern');
    const other = await connect('modern');
    serveTasks({ [name]: server, [other.name]: other.server });
    const taskId = await make(name);
    expect(taskId).not.toContain('own');
    const mine = await send('tasks/get', { taskId });
    expect(mine.answer.result).toMatchObject({ taskId, status: 'working' });
    const single = await send('tasks/get', { taskId }, { path: `/mcp/servers/${name}` });
    expect(single.answer.result).toMatchObject({ taskId });
    expect(server.asked).toEqual(Array.from({ length: 2 }, () => ['tasks/get', 'own', null]));

    const stranger = await createToken(portico);
    const blind = await createToken(portico, { servers: [other.id] });
    const seeing = await createToken(portico, { servers: [id] });
    const refusals = [];
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      for (const token of [stranger.token, blind.token, seeing.token]) {
        refusals.push(await send(method, { taskId }, { token }));
        refusals.push(await send(method, { taskId: 'own' }, { token }));
      }
      refusals.push(await send(method, { taskId: 'own' }));
      refusals.push(await send(method, { taskId }, { path: `/mcp/servers/${other.name}` }));
    }
    expect(new Set(refusals.map(({ text }) => text)).size).toBe(1);
    expect(refusals[0]?.answer.error).toEqual(NOT_FOUND);
    expect([server.asked.length, other.server.asked.length]).toEqual([2, 0]);
  });

  it('[MCP-4] [ACC-1] is lost to a revoked token, and to all when its server is deleted', async () => {
    const { id, name, server } = await connect('modern');
    const { id: tokenId, token } = await createToken(portico);
    const taskId = await make(name, { token });
    expect((await send('tasks/get', { taskId }, { token })).answer.result).toMatchObject({
      taskId,
    });
    await portico.api('DELETE', `/api/v1/tokens/${tokenId}`);
    await vi.waitFor(async () => {
      const response = await portico.post(modern('ping').message, { token });
      expect(response.status).toBe(401);
    }, PATIENT);
    const own = await make(name);
    await portico.api('DELETE', `/api/v1/aggregator/servers/${id}`);
    expect((await send('tasks/get', { taskId: own })).answer.error).toEqual(NOT_FOUND);
    expect(server.asked).toHaveLength(1);
  });

  it('[MCP-4] survives the memory of the isolate', async () => {
    const { name, server } = await connect('modern');
    const taskId = await make(name);
    const { message, headers } = modern('tasks/get', { taskId });
    const meta = message.params._meta as Record<string, unknown>;
    meta['io.modelcontextprotocol/clientCapabilities'] = DECLARED;
    const fresh = createPortico();
    const response = await fresh.post(message, { headers: { ...headers, 'mcp-name': taskId } });
    expect(await response.json()).toMatchObject({ result: { taskId } });
    expect(server.asked).toHaveLength(1);
  });

  it(`[MCP-4] [SEC-4] is reached by its own id only (seed ${SEED})`, async () => {
    const random = createRandom();
    const { name, server } = await connect('modern');
    const taskId = await make(name);
    server.next = 'another';
    const another = await make(name);
    const { token } = await createToken(portico);
    const forged = [
      '',
      '.',
      'k1',
      taskId.slice(1),
      `${taskId}A`,
      taskId.repeat(100),
      'é世',
      '\ud800',
    ];
    for (let i = 0; i < 60; i += 1) {
      const at = random.below(taskId.length);
      forged.push(taskId.slice(0, at), taskId.slice(0, at) + another.slice(at) + taskId.slice(at));
      forged.push(taskId.slice(0, at) + random.pick(['A', 'z', '_', '.']) + taskId.slice(at + 1));
    }
    for (const id of forged.filter(each => each !== taskId && each !== another)) {
      const { message, headers } = modern('tasks/get', { taskId: id });
      const meta = message.params._meta as Record<string, unknown>;
      meta['io.modelcontextprotocol/clientCapabilities'] = DECLARED;
      const bytes = new TextEncoder().encode(id.toWellFormed());
      const name64 = `=?base64?${btoa(String.fromCharCode(...bytes))}?=`;
      for (const sent of [{}, { token }]) {
        const response = await portico.post(message, {
          ...sent,
          headers: { ...headers, 'mcp-name': name64 },
        });
        const { error } = await response.json<RpcAnswer>();
        expect([id, response.status, error]).toEqual([id, 200, NOT_FOUND]);
      }
    }
    expect(server.asked).toEqual([]);
  });

  it.each([7, null, undefined, {}])('[MCP-4] is not requested by %j', async taskId => {
    const { status, answer } = await send('tasks/get', { taskId });
    expect([status, answer.error?.code]).toEqual([200, -32602]);
  });
});

describe('a legacy task', () => {
  it('[MCP-4] [ACC-3] is requested on the session that created it, by its principal only', async () => {
    const { name, server } = await connect('legacy');
    const session = await initialize(portico);
    const call = { name: `${name}.echo`, task: { ttl: 1_000 } };
    const made = await sendLegacy('tools/call', call, session);
    const { taskId } = (made.result?.['task'] ?? {}) as { taskId: string };
    expect(taskId).not.toContain('own');
    const [{ session: upstream } = { session: null }] = server.fake.of('tools/call');
    for (const id of [session, await initialize(portico)]) {
      for (const method of ['tasks/get', 'tasks/cancel', 'tasks/result']) {
        expect((await sendLegacy(method, { taskId }, id)).result).toBeDefined();
        expect(server.asked.at(-1)).toEqual([method, 'own', upstream]);
      }
    }
    const { token } = await createToken(portico);
    const theirs = await initialize(portico, { token });
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/result']) {
      expect((await sendLegacy(method, { taskId }, theirs, { token })).error).toEqual(NOT_FOUND);
      expect((await sendLegacy(method, { taskId: 'own' }, session)).error).toEqual(NOT_FOUND);
    }
    expect((await send('tasks/get', { taskId })).answer.error).toEqual(NOT_FOUND);
    for (const method of ['tasks/list', 'tasks/update']) {
      expect((await sendLegacy(method, { taskId }, session)).error?.code).toBe(-32601);
    }
    expect(server.asked).toHaveLength(6);
  });
});

describe('no client gets a task', () => {
  it.each([
    ['a modern client that declared none', 'modern', {}],
    ['a modern client of a legacy server', 'legacy', DECLARED],
  ] as const)('[MCP-4] %s', async (_who, era, declared) => {
    const { name, server } = await connect(era);
    const task = { ttl: 1_000 };
    const { answer } = await send('tools/call', { name: `${name}.echo`, task }, { declared });
    expect(answer.result).toMatchObject({
      isError: true,
      _meta: { 'portico/reason': 'upstream_bad_message' },
    });
    expect(JSON.stringify(answer)).not.toContain('own');
    expect(server.fake.of('tools/call')[0]?.params['task']).toEqual(
      era === 'modern' ? task : undefined,
    );
  });

  it.each(['legacy', 'modern'] as const)(
    '[MCP-4] a legacy client of a %s server that asked for none of its form',
    async era => {
      const { name } = await connect(era);
      const session = await initialize(portico);
      const asking = era === 'modern' ? { task: {} } : {};
      const call = { name: `${name}.echo`, ...asking };
      const { result } = await sendLegacy('tools/call', call, session);
      expect(result).toMatchObject({ isError: true });
    },
  );

  it('[MCP-4] by asking without having declared it', async () => {
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { status, answer } = await send(method, { taskId: 'x' }, { declared: {} });
      const data = { requiredCapabilities: DECLARED };
      expect([status, answer.error]).toMatchObject([400, { code: -32021, data }]);
    }
    for (const method of ['tasks/list', 'tasks/result']) {
      expect((await send(method, { taskId: 'x' })).answer.error?.code).toBe(-32601);
    }
  });
});

describe('the capability of tasks', () => {
  const discover = async (path: string, token = ADMIN) => {
    const { answer } = await send('server/discover', {}, { path, token });
    return answer.result?.['capabilities'] as Record<string, Record<string, unknown>>;
  };
  const open = async (path: string, token: string, protocolVersion = '2025-11-25') => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 't', version: '1' } };
    const response = await portico.post(legacy('initialize', params), { token }, path);
    const { result } = await response.json<RpcAnswer>();
    return ((result?.['capabilities'] ?? {}) as Record<string, unknown>)['tasks'];
  };

  it('[MCP-4] [ACC-3] is advertised to those who see a server of their era that has it, and to nobody else', async () => {
    const servers = [
      await connect('modern'),
      await connect('legacy'),
      await connect('modern', false),
    ];
    serveTasks(Object.fromEntries(servers.map(({ name, server }) => [name, server])));
    const legacyTasks = { cancel: {}, requests: { tools: { call: {} } } };
    for (const [i, { id, name }] of servers.entries()) {
      const { token } = await createToken(portico, { servers: [id] });
      for (const path of ['/mcp', `/mcp/servers/${name}`]) {
        const capabilities = await discover(path, token);
        expect(capabilities['tasks']).toBeUndefined();
        expect(capabilities['extensions']?.[TASKS]).toEqual(i === 0 ? {} : undefined);
        expect(await open(path, token)).toEqual(i === 1 ? legacyTasks : undefined);
        expect(await open(path, token, '2025-06-18')).toBeUndefined();
      }
    }
  });
});
