/**
 * The tasks extension between its official client and an SDK 2 server, through the gateway: tasks are created, polled, given answers and
 * cancelled as they are directly, survive a restart of the gateway, and are notified on a stream.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { connectPrograms, fixtureProgram } from '../support/connected.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { headersFor, modernHeaders } from '../support/raw-client.ts';
import { connectTaskClient, send, TASKS, type TaskClient } from '../support/task-client.ts';

let gateway: Gateway;
let upstream: Upstream;
let data: string;

const target = (path = '/mcp', token = gateway.adminToken) => ({
  url: `${gateway.origin}${path}`,
  token,
});

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-tasks-'));
  [gateway, upstream] = await Promise.all([
    startGateway({ data }),
    startFixture('conformance-modern', { era: 'modern' }),
  ]);
  await gateway.register('jobs', `${upstream.origin}/mcp`);
  await connectPrograms(gateway, 'this-machine', {
    'jobs-here': fixtureProgram('conformance-modern-stdio.ts'),
  });
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await rm(data, { recursive: true, force: true });
});

const textIn = (result: unknown) =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('');

/** Calls a tool and waits for its result. */
async function settle({ session }: TaskClient, name: string, given: object = {}) {
  const execution = await session.callTool(name, given as never);
  const { kind } = execution;
  return { kind, ...(await execution.settle()) };
}

/** Creates a task by hand. */
async function make(name: string, given: object = {}): Promise<string> {
  const { message } = await send(target(), 'tools/call', { name, arguments: given });
  expect(message.result).toMatchObject({ resultType: 'task', status: 'working' });
  return String(message.result?.['taskId']);
}

const resultIn = async (method: string, params: Record<string, unknown>) =>
  (await send(target(), method, params)).message.result ?? {};

const statusOf = (taskId: string, status: string) =>
  until(`the task is ${status}`, 60_000, async () => {
    const task = await resultIn('tasks/get', { taskId });
    return task['status'] === status ? task : undefined;
  });

describe('a modern client and its tasks', () => {
  it('[MCP-4] learns of the extension on both endpoints, and of no legacy capability', async () => {
    for (const path of ['/mcp', '/mcp/servers/jobs']) {
      const client = await connectTaskClient(target(path));
      expect(client.capabilities).toMatchObject({ extensions: { [TASKS]: {} } });
      expect(client.capabilities).not.toHaveProperty('tasks');
      expect(client.session.capabilities).toMatchObject({ execution: true, inputResponses: true });
      await client.close();
    }
  });

  it.each([
    ['/mcp', 'jobs.'],
    ['/mcp/servers/jobs', ''],
    ['/mcp', 'jobs-here.'],
  ])(
    '[MCP-4] [MCP-5] {io.modelcontextprotocol/tasks: modern > modern, stdio-modern} creates, polls and completes one on %s by %s',
    async (path, prefix) => {
      const client = await connectTaskClient(target(path));
      const given = { seconds: 0.3, label: 'one' };
      const { kind, outcome } = await settle(client, `${prefix}slow_compute`, given);
      expect([kind, textIn(resultFromTaskOutcome(outcome))]).toEqual(['task', 'Computed one']);
      const greeted = await settle(client, `${prefix}greet`, { name: 'Ada' });
      expect(greeted.kind).toBe('immediate');
      await client.close();
    },
  );

  it('[MCP-4] learns how one failed', async () => {
    const client = await connectTaskClient(target());
    const failing = await settle(client, 'jobs.failing_job');
    expect(failing.outcome).toMatchObject({ status: 'completed', result: { isError: true } });
    const broken = await settle(client, 'jobs.protocol_error_job');
    expect(broken.outcome).toMatchObject({ status: 'failed', error: { code: -32603 } });
    await client.close();
  });

  it('[MCP-4] answers questions of a task, and questions before there is a task', async () => {
    const client = await connectTaskClient(target());
    const one = await settle(client, 'jobs.confirm_delete', { filename: 'a.txt' });
    expect(textIn(resultFromTaskOutcome(one.outcome))).toContain('"confirm":true');
    const two = await settle(client, 'jobs.multi_input');
    expect(textIn(resultFromTaskOutcome(two.outcome))).toBe('Answered: first, second');
    const before = await settle(client, 'jobs.test_tool_with_task');
    expect(textIn(resultFromTaskOutcome(before.outcome))).toBe('Hello, Ada!');
    const here = await settle(client, 'jobs-here.confirm_delete', { filename: 'c.txt' });
    expect(textIn(resultFromTaskOutcome(here.outcome))).toContain('"confirm":true');
    await client.close();
  });

  it('[MCP-4] cancels one', async () => {
    const taskId = await make('jobs.slow_compute', { seconds: 60 });
    expect(await resultIn('tasks/cancel', { taskId })).toEqual({ resultType: 'complete' });
    expect(await statusOf(taskId, 'cancelled')).toMatchObject({ taskId });
  });

  it('[MCP-4] continues after a restart of the gateway, with questions too', async () => {
    const [slow, asking] = await Promise.all([
      make('jobs.slow_compute', { seconds: 0.2, label: 'late' }),
      make('jobs.confirm_delete', { filename: 'b.txt' }),
    ]);
    const { port, adminToken } = gateway;
    await gateway.stop();
    gateway = await startGateway({ data, port, adminToken });
    expect(await statusOf(slow, 'completed')).toMatchObject({ taskId: slow });
    await statusOf(asking, 'input_required');
    const inputResponses = { confirm: { action: 'accept', content: { confirm: true } } };
    const acknowledged = await resultIn('tasks/update', { taskId: asking, inputResponses });
    expect(acknowledged).toEqual({ resultType: 'complete' });
    expect(textIn((await statusOf(asking, 'completed'))['result'])).toContain('"confirm":true');
  });

  it('[MCP-4] [ACC-1] has tasks that no other principal can reach', async () => {
    const taskId = await make('jobs.slow_compute', { seconds: 0.1 });
    const { token } = await gateway.createToken({ name: 'stranger' });
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const asStranger = (id: string) =>
        send(target('/mcp', token), method, { taskId: id, inputResponses: {} });
      const { message: other } = await asStranger(taskId);
      const { message: unknown } = await asStranger('none');
      expect(other.error).toEqual({ code: -32602, message: 'Task not found' });
      expect(other.error).toEqual(unknown.error);
    }
  });

  it('[MCP-4] gets no task if it did not declare the extension, and is told what to declare', async () => {
    const call = (name: string) => send(target(), 'tools/call', { name, arguments: {} }, {});
    expect((await call('jobs.slow_compute')).message.result).toMatchObject({
      resultType: 'complete',
    });
    const insisting = await call('jobs.failing_job');
    const requiredCapabilities = { extensions: { [TASKS]: {} } };
    expect([insisting.status, insisting.message.error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities } },
    ]);
    const asking = await send(target(), 'tasks/get', { taskId: 'any' }, {});
    expect([asking.status, asking.message.error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities } },
    ]);
  });
});

describe('a stream of task notifications', () => {
  it('[MCP-4] reports the requested tasks, under the ids of the client', async () => {
    const taskId = await make('jobs.confirm_delete', { filename: 'c.txt' });
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { extensions: { [TASKS]: {} } },
    };
    const notifications = { toolsListChanged: true, taskIds: [taskId, 'unknown'] };
    const params = { notifications, _meta };
    const listening = new AbortController();
    const response = await fetch(target().url, {
      method: 'POST',
      headers: headersFor(target(), modernHeaders('subscriptions/listen')),
      body: JSON.stringify({ jsonrpc: '2.0', id: 'news', method: 'subscriptions/listen', params }),
      signal: listening.signal,
    });
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    const messages = () =>
      [...text.matchAll(/^data: (.*)$/gmu)].map(
        ([, line]) => JSON.parse(line ?? '') as { method: string; params: Record<string, unknown> },
      );
    await until('the stream is acknowledged', 60_000, async () => messages()[0]);
    expect(messages()[0]?.params['notifications']).toEqual({
      toolsListChanged: true,
      taskIds: [taskId],
    });
    await statusOf(taskId, 'input_required');
    const inputResponses = { confirm: { action: 'accept', content: { confirm: true } } };
    await resultIn('tasks/update', { taskId, inputResponses });
    const last = await until('the end was told', 60_000, async () =>
      messages().find(({ params: { status } }) => status === 'completed'),
    );
    expect(last).toMatchObject({
      method: 'notifications/tasks',
      params: { taskId, _meta: { 'io.modelcontextprotocol/subscriptionId': 'news' } },
    });
    expect(textIn(last.params['result'])).toContain('"confirm":true');
    listening.abort();
    await reading;
  });
});
