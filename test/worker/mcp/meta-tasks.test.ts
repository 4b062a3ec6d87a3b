/** A call through `call_tool` that becomes a task, in either era: its client polls it on the same endpoint. */
import { expect, it } from 'vitest';
import {
  createPortico,
  initialize,
  inSession,
  legacy,
  modern,
  registerConnected,
  type RpcAnswer,
} from '../support/portico.ts';
import { serveTasks, TaskServer, TASKS } from '../support/task-server.ts';

const PATH = '/mcp?tools=search';
const portico = createPortico();

it('[FIND-2] [MCP-4] is polled by its id: modern', async () => {
  const server = new TaskServer('modern', true);
  serveTasks({ 'meta-tasks': server });
  await registerConnected(portico, 'meta-tasks');
  const send = async (method: string, params: Record<string, unknown>, name: string) => {
    const { message, headers } = modern(method, params);
    const meta = message.params._meta as Record<string, unknown>;
    meta['io.modelcontextprotocol/clientCapabilities'] = { extensions: { [TASKS]: {} } };
    const sent = { headers: { ...headers, 'mcp-name': name } };
    return (await portico.post(message, sent, PATH)).json<RpcAnswer>();
  };
  const called = { name: 'call_tool', arguments: { name: 'meta-tasks.echo' } };
  const { result } = await send('tools/call', called, 'call_tool');
  const taskId = String(result?.['taskId']);
  expect(result).toMatchObject({ resultType: 'task', taskId: expect.not.stringContaining('own') });
  const task = await send('tasks/get', { taskId }, taskId);
  expect(task.result).toMatchObject({ taskId, status: 'working' });
});

it('[FIND-2] [MCP-4] is polled by its id: legacy', async () => {
  const server = new TaskServer('legacy', true);
  serveTasks({ 'meta-tasks-old': server });
  await registerConnected(portico, 'meta-tasks-old');
  const session = await initialize(portico, {}, PATH);
  const send = async (method: string, params: object) =>
    (
      await portico.post(legacy(method, params), { headers: inSession(session) }, PATH)
    ).json<RpcAnswer>();
  const called = { name: 'call_tool', arguments: { name: 'meta-tasks-old.echo' }, task: {} };
  const { result } = await send('tools/call', called);
  const { taskId } = (result ?? {})['task'] as { taskId: string };
  expect(taskId).not.toContain('own');
  expect((await send('tasks/get', { taskId })).result).toMatchObject({ taskId });
});
