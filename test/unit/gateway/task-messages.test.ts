/** Ids of tasks in messages, at each place where they occur; a message without one passes byte for byte. */
import { describe, expect, it } from 'vitest';
import {
  isTaskNotification,
  withClientIds,
  withoutRelated,
  type TaskNames,
} from '../../../src/upstream/protocol/task-messages.ts';
import type { JsonObject } from '../../../src/shared/protocol.ts';
import type {
  CallMessage,
  CallMessages,
  RelayedMethod,
} from '../../../src/upstream/protocol/call.ts';
import { taskFormOf, type RawResponse } from '../../../src/upstream/protocol/message.ts';
import type { Question, RawAnswer } from '../../../src/upstream/protocol/server-request.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const names: TaskNames = {
  toClient: id => Promise.resolve(`c-${id}`),
  toOwn: id => Promise.resolve(id.startsWith('c-') ? id.slice(2) : undefined),
};
const toResponse = (result: string): RawResponse => ({
  kind: 'response',
  result,
  parsed: JSON.parse(result) as JsonObject,
});

/** The raw result after its task ids were replaced. */
async function answered(result: string, method: RelayedMethod = 'tools/call'): Promise<string> {
  const reply = await withClientIds({ response: toResponse(result) }, method, names);
  if (!('response' in reply) || !('result' in reply.response)) throw new Error('no result');
  return reply.response.result;
}

async function* sequence(messages: CallMessage[]): CallMessages {
  yield* messages;
}

async function passed(...messages: CallMessage[]): Promise<CallMessage[]> {
  const reply = await withClientIds({ messages: sequence(messages) }, 'tools/call', names);
  const all: CallMessage[] = [];
  if ('messages' in reply) for await (const message of reply.messages) all.push(message);
  return all;
}

/** The raw notification after its task ids were replaced. */
async function told(text: string): Promise<string> {
  const { method } = JSON.parse(text) as { method: string };
  const [message] = await passed({ kind: 'notification', method, text });
  return message?.kind === 'notification' ? message.text : '';
}

const broken = { code: 'upstream_bad_message' };

describe('a task in a result', () => {
  it('[MCP-4] has the form of its era', () => {
    expect(taskFormOf({ resultType: 'task', task: {} })).toBe('modern');
    expect(taskFormOf({ task: {} })).toBe('legacy');
    for (const none of [{}, { task: 'x' }, { task: {}, content: [] }, { resultType: 'x' }]) {
      expect(taskFormOf(none)).toBeUndefined();
    }
  });

  it('[MCP-4] has the client’s id, and the rest is unchanged', async () => {
    const modern = '{"resultType":"task","taskId":"a","ttl":1.50}';
    expect(await answered(modern)).toBe('{"resultType":"task","taskId":"c-a","ttl":1.50}');
    const legacy = '{"task":{"taskId":"a","ttl":1.50},"more":1e3}';
    expect(await answered(legacy)).toBe('{"task":{"taskId":"c-a","ttl":1.50},"more":1e3}');
  });

  it('[MCP-4] without an id is a broken answer', async () => {
    for (const text of [
      '{"task":{}}',
      '{"task":{"taskId":7}}',
      '{"resultType":"task"}',
      '{"resultType":"task","taskId":null}',
    ]) {
      await expect(answered(text)).rejects.toMatchObject(broken);
    }
  });

  it('[MCP-4] may be absent where a task is requested, but is replaced if present', async () => {
    expect(await answered('{ }', 'tasks/cancel')).toBe('{ }');
    expect(await answered('{"taskId":"a"}', 'tasks/get')).toBe('{"taskId":"c-a"}');
    await expect(answered('{"taskId":7}', 'tasks/get')).rejects.toMatchObject(broken);
    const own = '{ "taskId" : "the tool said so" }';
    expect(await answered(own, 'tasks/result')).toBe(own);
  });

  it('[MCP-7] is not searched in an error', async () => {
    const response = {
      kind: 'response',
      error: '{"code":1}',
      parsed: { code: 1, task: {} },
    } as const;
    expect(await withClientIds({ response }, 'tools/call', names)).toEqual({ response });
  });
});

describe('the task that a result belongs to', () => {
  it('[MCP-4] is named by the client’s id', async () => {
    const text = `{"content":[],"_meta":{"a":1,"${RELATED}":{"taskId":"a","b":2}}}`;
    const made = `{"content":[],"_meta":{"a":1,"${RELATED}":{"taskId":"c-a","b":2}}}`;
    expect(await answered(text)).toBe(made);
    expect(await answered(text, 'tasks/result')).toBe(made);
  });

  it.each(['7', '{}', '{"taskId":7}', '[]', 'null', '{"taskId":null}'])(
    '[MCP-4] is left out if malformed: %s',
    async related => {
      const text = `{"content":[],"_meta":{"a":1,"${RELATED}":${related}}}`;
      expect(await answered(text)).toBe('{"content":[],"_meta":{"a":1}}');
    },
  );

  it.each([
    '{ "content" : [ ] }',
    '{ "content" : [ ], "_meta" : { "a" : 1 } }',
    '{ "content" : [ ], "_meta" : null }',
    '{ "content" : [ { "_meta" : { } } ] }',
    '{ "content" : [ ], "_meta" : [ ] }',
  ])('[MCP-7] is absent, and the result passes byte for byte: %s', async text => {
    expect(await answered(text)).toBe(text);
  });
});

describe('a notification', () => {
  it('[MCP-4] of a task has its id', async () => {
    expect(isTaskNotification('notifications/tasks')).toBe(true);
    expect(isTaskNotification('notifications/tasks/status')).toBe(true);
    expect(isTaskNotification('notifications/tasksx')).toBe(false);
    expect(isTaskNotification('x/notifications/tasks')).toBe(false);
    const method = 'notifications/tasks/status';
    const text = `{"method":"${method}","params":{"taskId":"a","ttl":1.50}}`;
    expect(await told(text)).toBe(text.replace('"a"', '"c-a"'));
    await expect(told(`{"method":"${method}","params":{}}`)).rejects.toMatchObject(broken);
  });

  it.each([
    '{ "method" : "notifications/message", "params" : { "data" : 1 } }',
    '{ "method" : "notifications/message", "params" : { "taskId" : "a" } }',
    `{ "method" : "notifications/message", "params" : [ "${RELATED}" ] }`,
    '{ "method" : "notifications/tasks" }',
    '{ "method" : "notifications/tasks", "params" : [ ] }',
  ])('[MCP-7] without a task passes byte for byte: %s', async text => {
    expect(await told(text)).toBe(text);
  });

  it('[MCP-4] that belongs to a task names it by the client’s id', async () => {
    const text = (id: string) =>
      `{"method":"notifications/message","params":{"data":"x","_meta":{"${RELATED}":{"taskId":"${id}"}}}}`;
    expect(await told(text('a'))).toBe(text('c-a'));
  });
});

describe('a server request', () => {
  const asking = (params: string) => {
    const answers: RawAnswer[] = [];
    const answer = (given: RawAnswer) => Promise.resolve(void answers.push(given));
    const question: Question = { kind: 'question', method: 'roots/list', params, answer };
    return { question, answers };
  };

  it('[MCP-4] is cancelled under the id that the client knows', async () => {
    const { question } = asking('{}');
    const { question: stranger } = asking('{}');
    const [asked, back, other] = await passed(
      question,
      { kind: 'cancellation', of: question, params: '{"reason":"late"}' },
      { kind: 'cancellation', of: stranger, params: '{}' },
    );
    expect(asked).not.toBe(question);
    expect(back?.kind === 'cancellation' && back.of).toBe(asked);
    expect(back).toHaveProperty('params', '{"reason":"late"}');
    expect(other?.kind === 'cancellation' && other.of).toBe(stranger);
  });

  it("[MCP-4] [SEC-10] is answered without another task's id, however it is written", async () => {
    const { question, answers } = asking('{ "a" : 1 }');
    const [asked] = await passed(question);
    if (asked?.kind !== 'question') throw new Error('no question');
    expect(asked.params).toBe('{ "a" : 1 }');
    const of = (id: string, meta = '_meta', key = RELATED) =>
      ({ result: `{"${meta}":{"${key}":{"taskId":"${id}"}}}` }) as const;
    await asked.answer(of('c-a'));
    await asked.answer(of('b'));
    await asked.answer(of('b', '\\u005fmeta'));
    await asked.answer(of('b', '_meta', RELATED.replace('k', '\\u006b')));
    await asked.answer({ result: '{ "action" : "accept" }' });
    const without = { result: '{"_meta":{}}' };
    const plain = { result: '{ "action" : "accept" }' };
    expect(answers).toEqual([of('a'), without, without, without, plain]);
  });
});

describe('a request about a task', () => {
  const related = (params: Record<string, string>) =>
    Object.fromEntries(withoutRelated(new Map(Object.entries(params))));

  it('[MCP-4] [SEC-10] names it once, however the second mention is written', () => {
    const escaped = RELATED.replace('k', '\\u006b');
    for (const key of [RELATED, escaped, RELATED.replace('/', '\\/')]) {
      expect(related({ taskId: '"a"', _meta: `{"a":1,"${key}":{"taskId":"b"}}` })).toEqual({
        taskId: '"a"',
        _meta: '{"a":1}',
      });
    }
  });

  it('[MCP-7] without a second mention passes byte for byte', () => {
    for (const params of [{ a: '1' }, { _meta: '{ "a" : 1 }' }, { _meta: '7' }, { _meta: '[ ]' }]) {
      expect(related(params as Record<string, string>)).toEqual(params);
    }
  });
});
