/** The fake models for Anthropic's and Google's APIs: what they answer, and that they refuse what the real ones refuse. */
import { describe, expect, it } from 'vitest';
import { SseParser } from '../../../src/http/sse-events.ts';
import { anthropicApi } from '../../fixtures/model-anthropic-api.ts';
import { geminiApi } from '../../fixtures/model-gemini-api.ts';
import { createModelServer } from '../../fixtures/model-server.ts';
import type { Script } from '../../fixtures/model-script.ts';

type Handle = (request: Request) => Promise<Response>;
const post = (handle: Handle, path: string, body: unknown, headers: Record<string, string>) =>
  handle(
    new Request(`http://model${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  );
const give = (handle: Handle, script: Script) => post(handle, '/control/script', script, {});
const eventsOf = async (answer: Response) => new SseParser(10_000).push(await answer.text());
const problemOf = async (answer: Response): Promise<string> => {
  expect(answer.status).toBe(400);
  return ((await answer.json()) as { error: { message: string } }).error.message;
};

const BLOCK = ['content_block_start', 'content_block_delta', 'content_block_stop'];

describe('the fake model of Anthropic', () => {
  const handle = createModelServer(anthropicApi, 'k');
  const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };
  const user = { role: 'user', content: 'hi' };
  const ask = (more: object = {}, other: Record<string, string> = headers) =>
    post(handle, '/v1/messages', { model: 'm', max_tokens: 9, messages: [user], ...more }, other);
  const use = { type: 'tool_use', id: 'toolu_x', name: 'a', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'toolu_x', content: 'ok' };
  const text = { type: 'text', text: 'and' };

  it('[LLM-3] streams its blocks event by event', async () => {
    await give(handle, {
      turns: [{ thought: 'hm', text: 'é😀', calls: [{ name: 'a', arguments: { x: 'é' } }] }],
    });
    const events = await eventsOf(await ask({ stream: true }));
    const said = events.map(({ data }) => JSON.parse(data) as { delta?: Record<string, string> });
    const join = (word: string) => said.map(({ delta }) => delta?.[word] ?? '').join('');
    expect(
      events.map(({ event }) => event).filter((name, at, all) => name !== all[at - 1]),
    ).toEqual([
      'message_start',
      ...Array.from({ length: 3 }, () => BLOCK).flat(),
      'message_delta',
      'message_stop',
    ]);
    expect([join('text'), join('partial_json')]).toEqual(['é😀', '{"x":"\\u00e9"}']);
    expect(said.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
  });

  it.each<[string, object, string]>([
    [
      'a call without its result',
      { messages: [user, { role: 'assistant', content: [use] }, user] },
      'without `tool_result`',
    ],
    ['a result of no call', { messages: [{ role: 'user', content: [result] }] }, 'unexpected'],
    [
      'a text before results',
      {
        messages: [
          user,
          { role: 'assistant', content: [use] },
          { role: 'user', content: [text, result] },
        ],
      },
      'must come first',
    ],
    [
      'two tools of one name',
      { tools: [1, 2].map(() => ({ name: 'a', input_schema: { type: 'object' } })) },
      'unique',
    ],
    [
      'a name with a dot',
      { tools: [{ name: 'a.b', input_schema: { type: 'object' } }] },
      'pattern',
    ],
    ['a message of the system', { messages: [{ role: 'system', content: 'x' }] }, 'role'],
    ['no bound', { max_tokens: undefined }, 'max_tokens'],
    ['an empty text', { messages: [{ role: 'user', content: '' }] }, 'non-empty'],
  ])('[LLM-1] refuses %s', async (_what, request, problem) => {
    expect(await problemOf(await ask(request))).toContain(problem);
  });

  it('[LLM-3] refuses a wrong key, and a request without a version', async () => {
    expect((await ask({}, { ...headers, 'x-api-key': 'other' })).status).toBe(401);
    expect(await problemOf(await ask({}, { 'x-api-key': 'k' }))).toContain('anthropic-version');
  });
});

describe('the fake model of Google', () => {
  const handle = createModelServer(geminiApi, 'k');
  const user = { role: 'user', parts: [{ text: 'hi' }] };
  const ask = (more: object = {}, verb = 'generateContent', key = 'k') =>
    post(
      handle,
      `/v1beta/models/gemini-3-x:${verb}`,
      { contents: [user], ...more },
      {
        'x-goog-api-key': key,
      },
    );
  const call = { functionCall: { name: 'a', args: {} } };
  const response = { functionResponse: { name: 'a', response: { output: 1 } } };
  const declare = (...tools: object[]) => ({ tools: [{ functionDeclarations: tools }] });
  const schema = (parameters: object) =>
    declare({ name: 'a', parameters: { type: 'OBJECT', ...parameters } });

  it('[LLM-3] streams whole responses with a part each, and a call in one part', async () => {
    await give(handle, { turns: [{ text: 'é😀x', calls: [{ name: 'a', arguments: { x: 1 } }] }] });
    const events = await eventsOf(await ask({}, 'streamGenerateContent?alt=sse'));
    const answers = events.map(({ data }) => JSON.parse(data) as Answer);
    const parts = answers.flatMap(({ candidates }) => candidates[0]?.content?.parts ?? []);
    expect(parts.map(part => part.text ?? '').join('')).toBe('é😀x');
    expect(parts.find(part => part.functionCall)).toEqual({
      functionCall: { id: expect.any(String), name: 'a', args: { x: 1 } },
      thoughtSignature: expect.any(String),
    });
    expect(answers.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] });
  });

  it.each<[string, object, string]>([
    ['a call that is not signed', step({ ...call }), 'thought_signature'],
    ['fewer results than calls', step({ ...call, thoughtSignature: 's' }, call), 'number of'],
    ['a result of no call', { contents: [{ role: 'user', parts: [response] }] }, 'immediately'],
    ['two tools of one name', declare({ name: 'a' }, { name: 'a' }), 'Duplicate'],
    ['a name with a space', declare({ name: 'a b' }), 'Invalid value'],
    ['a word that a schema has not', schema({ additionalProperties: false }), 'Unknown name'],
    ['several types', schema({ properties: { x: { type: ['string', 'null'] } } }), '.type'],
    ['a format', schema({ properties: { x: { type: 'STRING', format: 'uri' } } }), 'format'],
    ['an enum of numbers', schema({ properties: { x: { type: 'INTEGER', enum: [1] } } }), 'enum'],
  ])('[LLM-1] refuses %s', async (_what, request, problem) => {
    expect(await problemOf(await ask(request))).toContain(problem);
  });

  it('[LLM-3] refuses a wrong key in the query', async () => {
    const answer = await ask({}, 'generateContent', 'other');
    expect(await problemOf(answer)).toContain('API key not valid');
  });

  function step(...parts: object[]): object {
    return { contents: [user, { role: 'model', parts }, { role: 'user', parts: [response] }] };
  }
});

interface Answer {
  candidates: { content?: { parts: { text?: string; functionCall?: object }[] } }[];
}
