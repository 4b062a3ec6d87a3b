/** Which id a task has for its client, and which clients may subscribe to it. */
import type { TaskSubscription } from '../../../src/upstream/streams/task-listener.ts';
import type { VisibleServers } from '../../../src/gateway/viewer.ts';
import { describe, expect, it } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import type { RelayedRequest } from '../../../src/gateway/gateway.ts';
import { createTaskIds } from '../../../src/gateway/steps/task-ids.ts';
import { createTasks, type TaskPorts } from '../../../src/gateway/steps/tasks.ts';
import { DOT_NAMING } from '../../../src/gateway/viewer.ts';
import type { Era, JsonObject } from '../../../src/shared/protocol.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { createCaller } from '../access/callers.ts';
import { createRecord } from './fakes.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');
const idsUnder = (active: string) =>
  createTaskIds(createKeyRing(JSON.stringify({ active, keys: { k1: key(1), k2: key(2) } })));
const serverOf = (name: string, era: Era, more: Partial<Server> = {}) =>
  createRecord(name, {
    verdict: { era, protocolVersion: '', transport: 'http', sessionful: era === 'legacy' },
    ...more,
  });
const ada = createCaller({ principalId: 'ada' });
const alpha = serverOf('alpha', 'modern');
const beta = serverOf('beta', 'modern');
const old = serverOf('old', 'legacy');
const deaf: TaskPorts['subscribeTasks'] = () => Promise.reject(new Error('nobody asked'));

/** Tasks of a gateway whose one server gives this answer; notes the session of each request. */
function createWorld(server: Server, result: JsonObject, active = 'k1', hear = deaf) {
  const owners: string[] = [];
  const tasks = createTasks({ taskIds: idsUnder(active), subscribeTasks: hear });
  const response = { kind: 'response', result: JSON.stringify(result), parsed: result } as const;
  async function send(
    request: Partial<RelayedRequest> & { tasks: Era },
    owner = 'session:1',
  ): Promise<JsonObject> {
    const task = await tasks.open(
      { caller: ada, visible: { servers: [server] }, naming: DOT_NAMING },
      request.tasks,
      {
        method: 'tools/call',
        reference: { kind: 'tool', name: 'x' },
        params: new Map(),
        ...request,
      },
      {
        signal: new AbortController().signal,
        owner: () => owner,
        waitUntil: () => {},
        capabilities: {},
        questions: 'ask',
      },
    );
    owners.push(task.context.owner(server.id));
    const reply = await task.close(server, { response });
    if (!('response' in reply) || !('result' in reply.response)) throw new Error('no result');
    return JSON.parse(reply.response.result) as JsonObject;
  }
  return { tasks, send, owners };
}

const TASK = { resultType: 'task', taskId: 'own-1' };
const OLD_TASK = { task: { taskId: 'own-1' } };

describe('the id of a task', () => {
  it('[MCP-4] is the same on every session if the server has no sessions', async () => {
    const { send } = createWorld(alpha, TASK);
    const { taskId } = await send({ tasks: 'modern' }, 'session:1');
    expect(await send({ tasks: 'modern' }, 'session:2')).toEqual({ ...TASK, taskId });
    const legacy = createWorld(old, OLD_TASK);
    expect(await legacy.send({ tasks: 'legacy' }, 'session:1')).not.toEqual(
      await legacy.send({ tasks: 'legacy' }, 'session:2'),
    );
  });

  it("[MCP-4] stays the client's, also after another key became active", async () => {
    const made = await createWorld(alpha, TASK).send({ tasks: 'modern' });
    const id = String(made['taskId']);
    const related = { _meta: { [RELATED]: { taskId: 'own-2' } } };
    const { send, owners } = createWorld(alpha, { taskId: 'own-1', ...related }, 'k2');
    const about = { method: 'tasks/get', reference: { kind: 'task', name: id } } as const;
    const got = await send({ ...about, tasks: 'modern' }, 'session:9');
    expect(got['taskId']).toBe(id);
    const { taskId: other } = (got['_meta'] as Record<string, { taskId: string }>)[RELATED] ?? {};
    expect(await idsUnder('k1').open('ada', other ?? '')).toMatchObject({ taskId: 'own-2' });
    expect(owners).toEqual(['session:9']);
  });

  it('[MCP-7] is not detected in the form of another era', async () => {
    expect(await createWorld(old, OLD_TASK).send({ tasks: 'modern' })).toEqual(OLD_TASK);
    const unknown = createRecord('new');
    expect(await createWorld(unknown, OLD_TASK).send({ tasks: 'legacy' })).toEqual(OLD_TASK);
  });
});

describe('a subscription to tasks', () => {
  const ids = idsUnder('k1');
  const idOf = (server: Server, taskId: string, principal = 'ada', era: Era = 'modern') => {
    const origin = new URL(server.url).origin;
    return ids.seal(principal, { era, serverId: server.id, origin, taskId });
  };
  const never = new Promise<void>(() => {});

  /** Subscribes to task ids; servers agree to tasks by their own ids, and may notify at once. */
  async function heard(
    given: string[],
    answers: Record<string, () => TaskSubscription>,
    within: VisibleServers,
  ) {
    const asked: [string, readonly string[]][] = [];
    const change: unknown[] = [];
    const { tasks } = createWorld(alpha, {}, 'k1', async (server, own, hear) => {
      asked.push([server.name, own]);
      for (const taskId of own) hear(taskId, `{"status":"x","taskId":"${taskId}"}`);
      return (answers[server.name] ?? (() => ({ agreed: own, ended: never })))();
    });
    const listener = await tasks.subscribe(
      { caller: ada, visible: within, naming: DOT_NAMING },
      given,
      ({ server, task }) => void change.push([server.name, JSON.parse(task)]),
      new AbortController().signal,
    );
    return { ...listener, asked, change };
  }
  const visible: VisibleServers = { servers: [alpha, beta, old] };

  it('[MCP-4] belongs to their owner: each server is asked once, by its own ids, and answers with the client’s', async () => {
    const [a1, a2, b1] = await Promise.all([
      idOf(alpha, 'one'),
      idOf(alpha, 'two'),
      idOf(beta, 'one'),
    ]);
    const { agreed, asked, change } = await heard([a1, b1, a2, a1], {}, visible);
    expect(asked).toEqual([
      ['alpha', ['one', 'two']],
      ['beta', ['one']],
    ]);
    expect(agreed).toEqual([a1, a2, b1]);
    expect(change).toEqual([
      ['alpha', { status: 'x', taskId: a1 }],
      ['alpha', { status: 'x', taskId: a2 }],
      ['beta', { status: 'x', taskId: b1 }],
    ]);
  });

  it('[MCP-4] [ACC-3] is refused to anybody else', async () => {
    const gone = serverOf('gone', 'modern', { status: 'DISCONNECTED' });
    const moved = { ...beta, url: 'https://b.example.com/mcp' };
    const given = await Promise.all([
      idOf(alpha, 'one', 'bob'),
      idOf(gone, 'one'),
      idOf(beta, 'one'),
      idOf(old, 'one', 'ada', 'legacy'),
      idOf(serverOf('hidden', 'modern'), 'one'),
      'nothing',
    ]);
    const within = { servers: [alpha, gone, moved, old] };
    const { agreed, asked, ended } = await heard(given, {}, within);
    expect([agreed, asked]).toEqual([[], []]);
    await ended;
  });

  it('[MCP-4] [MCP-12] ends when one of the servers ends it, but not by one that never agreed', async () => {
    const given = [await idOf(alpha, 'one'), await idOf(beta, 'one')];
    let end = () => {};
    const lasting = new Promise<void>(resolve => void (end = resolve));
    const failing = () => {
      throw new PorticoError('upstream_unreachable');
    };
    const { agreed, ended } = await heard(
      given,
      { alpha: failing, beta: () => ({ agreed: ['one'], ended: lasting }) },
      visible,
    );
    expect(agreed).toEqual(given.slice(1));
    const over = ended.then(() => true);
    expect(await Promise.race([over, Promise.resolve(false)])).toBe(false);
    await new Promise(resolve => void setTimeout(resolve, 1));
    expect(await Promise.race([over, Promise.resolve(false)])).toBe(false);
    end();
    expect(await over).toBe(true);
  });

  it('[MCP-4] reports a failure of the gateway', async () => {
    const given = [await idOf(alpha, 'one')];
    const broken = () => {
      throw new Error('ours');
    };
    await expect(heard(given, { alpha: broken }, visible)).rejects.toThrow('ours');
  });
});
