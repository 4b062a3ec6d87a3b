/** Tasks in the gateway on plain fakes: which id reaches which server, in a server's messages about tasks, and what passes unchanged. */
import type { Caller } from '../../../src/access/policy/caller.ts';
import type { Naming, VisibleServers } from '../../../src/gateway/viewer.ts';
import { describe, expect, it } from 'vitest';
import type { RelayedRequest } from '../../../src/gateway/gateway.ts';
import type { Era } from '../../../src/shared/protocol.ts';
import type { CallContext, CallMessage, CallReply } from '../../../src/upstream/protocol/call.ts';
import type { RawAnswer } from '../../../src/upstream/protocol/server-request.ts';
import { createCaller } from '../access/callers.ts';
import { createFakeGateway, createRecord } from './fakes.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const verdictOf = (era: Era) => ({
  era,
  protocolVersion: era === 'modern' ? '2026-07-28' : '2025-11-25',
  transport: 'http' as const,
  sessionful: era === 'legacy',
});
const modern = createRecord('alpha', { verdict: verdictOf('modern') });
const legacy = createRecord('beta', { verdict: verdictOf('legacy') });
const visible: VisibleServers = { servers: [modern, legacy] };
const naming: Naming = { kind: 'qualified', style: 'dot' };
const ada = createCaller({ principalId: 'ada' }, ['tools:call']);
const bob: Caller = { ...ada, principalId: 'bob' };

const response = (parsed: object): CallReply => {
  const result = JSON.stringify(parsed);
  return { response: { kind: 'response', result, parsed: parsed as Record<string, unknown> } };
};

/** A gateway whose servers give this answer. */
function gatewayOf(answer: CallReply) {
  const seen: { server: string; params: Record<string, unknown>; name: unknown; owner: string }[] =
    [];
  const gateway = createFakeGateway({
    send(server, { params }, name, context) {
      const text = [...params].map(([member, raw]) => `${JSON.stringify(member)}:${raw}`).join();
      const parsed = JSON.parse(`{${text}}`) as Record<string, unknown>;
      seen.push({ server: server.name, params: parsed, name, owner: context.owner(server.id) });
      return Promise.resolve(answer);
    },
  });
  return { gateway, seen };
}

const contextOf = (owner: string): CallContext => ({
  signal: new AbortController().signal,
  owner: () => owner,
  waitUntil: () => {},
  capabilities: {},
  questions: 'ask',
});

interface Sent {
  caller?: Caller;
  owner?: string;
  within?: VisibleServers;
  params?: Map<string, string>;
}

function send(answer: CallReply, request: Partial<RelayedRequest>, sent: Sent = {}) {
  const { gateway, seen } = gatewayOf(answer);
  const { caller = ada, owner = 'session:1', within = visible, params = new Map() } = sent;
  const whole = { method: 'tools/call', params, ...request } as RelayedRequest;
  const routed = gateway.request({ caller, visible: within, naming }, whole, contextOf(owner));
  return { routed, seen };
}

const call = (server: string, tasks?: Era): Partial<RelayedRequest> => ({
  reference: { kind: 'tool', name: `${server}.echo` },
  tasks,
});
const about = (name: string, tasks: Era, method = 'tasks/get') =>
  ({ method, reference: { kind: 'task', name }, tasks }) as Partial<RelayedRequest>;

async function resultOf({ routed }: ReturnType<typeof send>): Promise<Record<string, unknown>> {
  const { reply } = await routed;
  if (!('response' in reply) || !('result' in reply.response)) throw new Error('no result');
  return JSON.parse(reply.response.result) as Record<string, unknown>;
}

async function* sequence(...messages: CallMessage[]) {
  for (const message of messages) yield await Promise.resolve(message);
}

const modernTask = { resultType: 'task', taskId: 'own-1', status: 'working' };
const legacyTask = { task: { taskId: 'own-1', status: 'working' } };
const makeModern = async () =>
  String((await resultOf(send(response(modernTask), call('alpha', 'modern'))))['taskId']);
const makeLegacy = async (owner: string) => {
  const { task } = await resultOf(send(response(legacyTask), call('beta', 'legacy'), { owner }));
  return (task as { taskId: string }).taskId;
};

describe('a task', () => {
  it('[MCP-4] of the modern era goes to its server under its own id, and comes back under the client’s', async () => {
    const id = await makeModern();
    expect(id).not.toContain('own-1');
    const status = { resultType: 'complete', taskId: 'own-1', status: 'working' };
    const asked = send(response(status), about(id, 'modern'));
    expect(await resultOf(asked)).toEqual({ ...status, taskId: id });
    expect(asked.seen).toMatchObject([
      { server: 'alpha', params: { taskId: 'own-1' }, name: 'own-1' },
    ]);
  });

  it('[MCP-4] of the legacy era is requested on the session that created it', async () => {
    const id = await makeLegacy('session:1');
    const asked = send(response({ taskId: 'own-1', status: 'working' }), about(id, 'legacy'), {
      owner: 'session:2',
      params: new Map([['_meta', `{"a":1,"${RELATED}":{"taskId":"${id}"}}`]]),
    });
    expect(await resultOf(asked)).toMatchObject({ taskId: id });
    const params = { taskId: 'own-1', _meta: { a: 1 } };
    expect(asked.seen).toEqual([{ server: 'beta', params, name: 'own-1', owner: 'session:1' }]);
  });

  it('[MCP-4] [ACC-3] looks unknown to others, if its server is hidden, and in the other era', async () => {
    const id = await makeModern();
    const old = await makeLegacy('session:1');
    const hidden: Caller = createCaller({ principalId: 'ada', servers: [legacy.id] }, [
      'tools:call',
    ]);
    const tries = [
      () => send(response({}), about('nothing', 'modern')),
      () => send(response({}), about(id, 'modern'), { caller: bob }),
      () => send(response({}), about(id, 'modern'), { caller: hidden }),
      () => send(response({}), about(id, 'modern'), { within: { servers: [legacy] } }),
      () =>
        send(response({}), about(id, 'modern'), {
          within: { servers: [{ ...modern, verdict: null }] },
        }),
      () =>
        send(response({}), about(id, 'modern'), {
          within: { servers: [{ ...modern, url: 'https://other.example.com/mcp' }] },
        }),
      () => send(response({}), about(id, 'legacy')),
      () => send(response({}), about(old, 'modern')),
    ];
    // One after the other, so that no refusal is unhandled.
    for (const attempt of tries) {
      const { routed, seen } = attempt();
      await expect(routed).rejects.toMatchObject({
        code: 'task_not_found',
        message: 'Task not found',
        extras: {},
      });
      expect(seen).toEqual([]);
    }
  });

  it('[MCP-4] without a valid id is a broken answer', async () => {
    const long = 'x'.repeat(3_000);
    for (const task of [
      { resultType: 'task' },
      { ...modernTask, taskId: 7 },
      { ...modernTask, taskId: long },
    ]) {
      const { routed } = send(response(task), call('alpha', 'modern'));
      await expect(routed).rejects.toMatchObject({ reason: { code: 'upstream_bad_message' } });
    }
  });
});

describe('what passes unchanged', () => {
  it('[MCP-7] is every result of a caller without tasks, and every plain result', async () => {
    const plain = { content: [], taskId: 'mine', task: { taskId: 'x' } };
    for (const tasks of [undefined, 'modern', 'legacy'] as const) {
      for (const server of ['alpha', 'beta']) {
        const { routed } = send(response(plain), call(server, tasks));
        expect((await routed).reply).toEqual(response(plain));
      }
    }
    const result = { content: [], taskId: 'mine' };
    const id = await makeLegacy('session:1');
    const asked = send(response(result), about(id, 'legacy', 'tasks/result'));
    expect(await resultOf(asked)).toEqual(result);
  });
});

describe('messages before the result of a legacy task', () => {
  it('[MCP-4] name it by the client’s id, and an answer to a server request by the server’s own', async () => {
    const id = await makeLegacy('session:1');
    const answers: RawAnswer[] = [];
    const meta = { _meta: { [RELATED]: { taskId: 'own-1' } } };
    const textOf = (method: string, params: object) =>
      // Escaped as some JSON writers do.
      JSON.stringify({ jsonrpc: '2.0', method, params }).replaceAll('/', '\\/');
    const status = 'notifications/tasks/status';
    const message = 'notifications/message';
    const messages = sequence(
      { kind: 'notification', method: status, text: textOf(status, { taskId: 'own-1', ttl: 1 }) },
      { kind: 'notification', method: message, text: textOf(message, { data: 'x', ...meta }) },
      {
        kind: 'question',
        method: 'elicitation/create',
        params: JSON.stringify({ message: 'Yes?', ...meta }),
        answer: given => Promise.resolve(void answers.push(given)),
      },
      { kind: 'response', result: JSON.stringify({ content: [], ...meta }), parsed: meta },
    );
    const { reply } = await send({ messages }, about(id, 'legacy', 'tasks/result')).routed;
    const seen: unknown[] = [];
    for await (const each of 'messages' in reply ? reply.messages : []) {
      if (each.kind === 'notification')
        seen.push((JSON.parse(each.text) as { params: object }).params);
      else if (each.kind === 'question') {
        seen.push(JSON.parse(each.params));
        await each.answer({
          result: JSON.stringify({ action: 'accept', _meta: { [RELATED]: { taskId: id } } }),
        });
        await each.answer({ result: `{"_meta":{"${RELATED}":{"taskId":"forged"}}}` });
        await each.answer({ error: '{"code":1}' });
      } else if ('result' in each) seen.push(JSON.parse(each.result));
    }
    const renamed = { _meta: { [RELATED]: { taskId: id } } };
    expect(seen).toEqual([
      { taskId: id, ttl: 1 },
      { data: 'x', ...renamed },
      { message: 'Yes?', ...renamed },
      { content: [], ...renamed },
    ]);
    const own = `{"action":"accept","_meta":{"${RELATED}":{"taskId":"own-1"}}}`;
    expect(answers).toEqual([{ result: own }, { result: '{"_meta":{}}' }, { error: '{"code":1}' }]);
  });
});
