/**
 * Tasks of 2025-11-25 between an SDK 1 client and an SDK 1 server with its experimental tasks, through the gateway: the client's own task
 * functions work as they do directly, and an id reaches only the session that created the task.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { connectPrograms, fixtureProgram } from '../support/connected.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';

const identity = { name: 'portico-e2e', version: '1.0.0' };
const capabilities = { elicitation: { form: {} } };
let gateway: Gateway;
let upstream: Upstream;
let data: string;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-tasks-'));
  [gateway, upstream] = await Promise.all([
    startGateway({ data }),
    startFixture('conformance-legacy'),
  ]);
  await gateway.register('http', `${upstream.origin}/mcp`);
  await gateway.register('sse', `${upstream.origin}/sse`, { transport_type: 'SSE' });
  await connectPrograms(gateway, 'this-machine', {
    stdio: fixtureProgram('conformance-stdio.ts', '--sdk', '1'),
  });
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await rm(data, { recursive: true, force: true });
});

const transportTo = (path: string, token: string, sessionId?: string) =>
  new StreamableHTTPClientTransport(new URL(`${gateway.origin}${path}`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    ...(sessionId === undefined ? {} : { sessionId }),
  });

function sseTo(path: string, token: string) {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return new SSEClientTransport(new URL(`${gateway.origin}${path}`), { requestInit });
}

async function connect(path = '/mcp', token = gateway.adminToken): Promise<Client> {
  const client = new Client(identity, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept' as const,
    content: { confirm: true, first: true, second: true, name: 'Ada' },
  }));
  const transport = path.startsWith('/sse') ? sseTo(path, token) : transportTo(path, token);
  await client.connect(transport as never);
  return client;
}

const textIn = (result: unknown) =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('');

/** Creates a task. */
async function make(client: Client, name: string, given: Record<string, unknown> = {}) {
  const stream = client.experimental.tasks.callToolStream(
    { name, arguments: given },
    CallToolResultSchema,
    { task: { ttl: 600_000 } },
  );
  const first = await stream.next();
  await stream.return();
  if (first.done || first.value.type !== 'taskCreated') {
    throw new Error(`No task: ${JSON.stringify(first.value)}`);
  }
  return first.value.task;
}

const ended = (client: Client, taskId: string) =>
  until('the task has ended', 60_000, async () => {
    const task = await client.experimental.tasks.getTask(taskId);
    expect(task.taskId).toBe(taskId);
    return ['completed', 'failed', 'cancelled'].includes(task.status) ? task.status : undefined;
  });

const resultOf = (client: Client, taskId: string) =>
  client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);

describe('a legacy client and its tasks', () => {
  it('[MCP-4] learns of tasks, and which tools run as one', async () => {
    const client = await connect();
    const tasks = client.getServerCapabilities()?.tasks;
    expect(tasks).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
    const { tools } = await client.listTools();
    const support = Object.fromEntries(tools.map(tool => [tool.name, tool.execution?.taskSupport]));
    expect(support).toMatchObject({
      'http.greet': 'forbidden',
      'http.slow_compute': 'optional',
      'http.failing_job': 'required',
    });
    await client.close();
  });

  it.each([
    ['http', '/mcp', 'http.'],
    ['sse', '/mcp', 'sse.'],
    ['http', '/mcp/servers/http', ''],
    ['http', '/sse', 'http.'],
    ['sse', '/sse', 'sse.'],
    ['stdio', '/mcp', 'stdio.'],
    ['stdio', '/sse', 'stdio.'],
  ])(
    '[MCP-4] [MCP-5] {tasks of 2025-11-25 (experimental): legacy, sse > legacy, sse, stdio} creates one at %s by %s',
    async (_kind, path, prefix) => {
      const client = await connect(path);
      const task = await make(client, `${prefix}slow_compute`, { seconds: 0.2, label: 'one' });
      expect(task).toMatchObject({ status: 'working', ttl: 600_000 });
      expect(await ended(client, task.taskId)).toBe('completed');
      const result = await resultOf(client, task.taskId);
      expect(textIn(result)).toBe('Computed one');
      expect(result._meta?.['io.modelcontextprotocol/related-task']).toEqual({
        taskId: task.taskId,
      });
      await client.close();
    },
  );

  it.each(['http', 'sse'])('[MCP-4] [UP-3] waits for the result of one at %s', async name => {
    const client = await connect();
    const { taskId } = await make(client, `${name}.slow_compute`, { seconds: 0.5, label: 'two' });
    expect(textIn(await resultOf(client, taskId))).toBe('Computed two');
    await client.close();
  });

  it('[MCP-4] learns how one failed, and from the server that it does not run otherwise', async () => {
    const client = await connect();
    const { taskId } = await make(client, 'http.failing_job');
    expect(await ended(client, taskId)).toBe('failed');
    expect(await resultOf(client, taskId)).toMatchObject({ isError: true });
    const fresh = await connect();
    const plain = fresh.request(
      { method: 'tools/call', params: { name: 'http.failing_job', arguments: {} } },
      CallToolResultSchema,
    );
    await expect(plain).rejects.toMatchObject({ code: -32601 });
    await Promise.all([client.close(), fresh.close()]);
  });

  it('[MCP-4] cancels one, once', async () => {
    const client = await connect();
    const { taskId } = await make(client, 'http.slow_compute', { seconds: 60 });
    const cancelled = await client.experimental.tasks.cancelTask(taskId);
    expect(cancelled).toMatchObject({ taskId, status: 'cancelled' });
    await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toMatchObject({
      code: -32602,
    });
    await client.close();
  });

  it.each(['http', 'sse'])('[MCP-4] [MCP-5] answers questions of a task at %s', async name => {
    const client = await connect();
    const { taskId } = await make(client, `${name}.confirm_delete`, { filename: 'a.txt' });
    const text = textIn(await resultOf(client, taskId));
    expect(text).toContain('"confirm":true');
    const two = await make(client, `${name}.multi_input`);
    expect(textIn(await resultOf(client, two.taskId))).toBe('Answered: first, second');
    await client.close();
  });

  it('[MCP-4] [MCP-10] continues after a restart of the gateway', async () => {
    const client = await connect();
    const { taskId } = await make(client, 'http.slow_compute', { seconds: 0.2, label: 'three' });
    const { sessionId } = client.transport as StreamableHTTPClientTransport;
    const { port, adminToken } = gateway;
    await client.close();
    await gateway.stop();
    gateway = await startGateway({ data, port, adminToken });
    const again = new Client(identity, { capabilities });
    await again.connect(transportTo('/mcp', adminToken, sessionId) as never);
    expect(await ended(again, taskId)).toBe('completed');
    expect(textIn(await resultOf(again, taskId))).toBe('Computed three');
    await again.close();
  });

  it('[MCP-4] [ACC-1] reaches its task from another session, and no other principal does', async () => {
    const client = await connect();
    const { taskId } = await make(client, 'http.slow_compute', { seconds: 0.1, label: 'four' });
    const other = await connect();
    expect(await ended(other, taskId)).toBe('completed');
    const { token } = await gateway.createToken({ name: 'stranger' });
    const stranger = await connect('/mcp', token);
    const asked = stranger.experimental.tasks.getTask(taskId);
    await expect(asked).rejects.toMatchObject({ code: -32602 });
    await expect(resultOf(stranger, taskId)).rejects.toMatchObject({ code: -32602 });
    await Promise.all([client.close(), other.close(), stranger.close()]);
  });

  it('[MCP-4] is offered no list of tasks', async () => {
    const client = await connect();
    await expect(client.experimental.tasks.listTasks()).rejects.toMatchObject({ code: -32601 });
    await client.close();
  });
});
