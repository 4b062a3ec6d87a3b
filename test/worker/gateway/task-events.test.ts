/**
 * Task notifications on `subscriptions/listen`: granted only if the server agreed, sent under the client's ids, to nobody else, and ended
 * with the stream of either side.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  PATIENT,
  createPortico,
  createToken,
  modern,
  registerConnected,
  type RpcAnswer,
} from '../support/portico.ts';
import { readStream, type OpenStream } from '../support/event-streams.ts';
import { serveTasks, TaskServer, TASKS } from '../support/task-server.ts';

const portico = createPortico();
const DECLARED = { extensions: { [TASKS]: {} } };
const open: OpenStream[] = [];
let count = 0;

afterEach(async () => {
  for (const stream of open.splice(0)) await stream.close();
});

async function connect(era: 'legacy' | 'modern' = 'modern') {
  const name = `news${++count}-${era}`;
  const server = new TaskServer(era);
  serveTasks({ [name]: server });
  const { id } = await registerConnected(portico, name);
  return { id, name, server };
}

function post(method: string, params: Record<string, unknown>, declared: object, token?: string) {
  const { message, headers } = modern(method, params);
  const meta = message.params._meta as Record<string, unknown>;
  meta['io.modelcontextprotocol/clientCapabilities'] = declared;
  return portico.post(message, { headers, ...(token === undefined ? {} : { token }) });
}

async function make({ name, server }: { name: string; server: TaskServer }, own: string) {
  server.next = own;
  const response = await post('tools/call', { name: `${name}.echo` }, DECLARED);
  return String((await response.json<RpcAnswer>()).result?.['taskId']);
}

/** Subscribes to tasks; returns the granted ids. */
async function listen(taskIds: string[], token?: string) {
  const response = await post(
    'subscriptions/listen',
    { notifications: { taskIds } },
    DECLARED,
    token,
  );
  const stream = readStream(response);
  open.push(stream);
  const [acknowledged] = await stream.until(1);
  const { taskIds: agreed } = (acknowledged?.params?.['notifications'] ?? {}) as {
    taskIds: string[];
  };
  return { stream, agreed };
}

describe('a subscription to tasks', () => {
  it('[MCP-4] gets notifications of its tasks under its own ids, and of no other', async () => {
    const one = await connect();
    const [first, second] = [await make(one, 'own-1'), await make(one, 'own-2')];
    const { stream, agreed } = await listen([first, second, second, 'nothing']);
    expect(agreed).toEqual([first, second]);
    one.server.tell('own-3');
    one.server.tell('own-2', { status: 'completed', result: { content: [], n: 1 } });
    one.server.tell('own-1');
    const told = (await stream.until(3)).slice(1);
    expect(told.map(({ method }) => method)).toEqual([
      'notifications/tasks',
      'notifications/tasks',
    ]);
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 1 };
    expect(told[0]?.params).toMatchObject({ taskId: second, result: { content: [], n: 1 }, _meta });
    expect(told[1]?.params).toMatchObject({ taskId: first, status: 'working', _meta });
    expect(JSON.stringify(stream.messages())).not.toContain('own-');
  });

  it('[MCP-4] [ACC-3] is not granted for tasks of others, of hidden servers and of the legacy era', async () => {
    const one = await connect();
    const old = await connect('legacy');
    serveTasks({ [one.name]: one.server, [old.name]: old.server });
    const taskId = await make(one, 'own-1');
    const { token } = await createToken(portico);
    expect((await listen([taskId, 'own-1'], token)).agreed).toEqual([]);
    const { token: blind } = await createToken(portico, { servers: [old.id] });
    expect((await listen([taskId], blind)).agreed).toEqual([]);
    expect(one.server.listeners).toBe(0);
  });

  it('[MCP-4] is granted what the server agrees to, and no more', async () => {
    const one = await connect();
    const [first, second] = [await make(one, 'own-1'), await make(one, 'own-2')];
    one.server.agrees = () => ['own-2', 'own-9'];
    expect((await listen([first, second])).agreed).toEqual([second]);
    one.server.agrees = () => [];
    const { stream, agreed } = await listen([first]);
    expect([agreed, stream.ended()]).toEqual([[], false]);
    await vi.waitFor(() => expect(one.server.listeners).toBe(1), PATIENT);
  });

  it('[MCP-4] ends properly when the server ends it', async () => {
    const one = await connect();
    const { stream } = await listen([await make(one, 'own-1')]);
    one.server.hangUp();
    const [, last] = await stream.until(2);
    expect(last).toMatchObject({ id: 1, result: { resultType: 'complete' } });
    await vi.waitFor(() => expect(stream.ended()).toBe(true), PATIENT);
  });

  it('[MCP-4] is ended at the server when its client leaves', async () => {
    const one = await connect();
    const { stream } = await listen([await make(one, 'own-1')]);
    expect(one.server.listeners).toBe(1);
    await stream.close();
    await vi.waitFor(() => expect(one.server.listeners).toBe(0), PATIENT);
  });

  it('[MCP-4] [ACC-3] gets nothing more when the server is deleted', async () => {
    const one = await connect();
    const { stream } = await listen([await make(one, 'own-1')]);
    await portico.api('DELETE', `/api/v1/aggregator/servers/${one.id}`);
    one.server.tell('own-1');
    one.server.hangUp();
    await stream.until(2);
    expect(stream.methods()).toEqual(['notifications/subscriptions/acknowledged', undefined]);
  });

  it('[MCP-4] requires declared tasks, and names a bounded number', async () => {
    const notifications = { taskIds: ['a'] };
    const response = await post('subscriptions/listen', { notifications }, {});
    const { error } = await response.json<RpcAnswer>();
    expect([response.status, error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: DECLARED } },
    ]);
    for (const taskIds of [Array.from({ length: 101 }, () => 'a'), [7], 'a', [''], { a: 1 }]) {
      const refused = await post('subscriptions/listen', { notifications: { taskIds } }, DECLARED);
      expect((await refused.json<RpcAnswer>()).error?.code).toBe(-32602);
    }
  });
});
