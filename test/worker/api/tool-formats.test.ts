/**
 * `GET /api/v1/tools?format=` and `POST /api/v1/tools/execute`: tools in the format of a model's API, and the calls that the model makes.
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FORMATS } from '../../../src/models/formats/dialect.ts';
import { createPerson, rowsOf } from '../support/call-rows.ts';
import { FakeServer, resultOf, serve, toolOf, type SeenPost } from '../support/fake-server.ts';
import { createPortico, createToken, registerConnected } from '../support/portico.ts';

interface Exported {
  tools: Record<string, unknown>[];
  names: Record<string, string>;
  losses: { tool: string; path: string }[];
  code?: string;
}
interface Executed {
  results: { id: string; name: string; tool: string | null; is_error: boolean; result: object }[];
  messages: Record<string, unknown>[];
  code?: string;
}

const SCHEMA = {
  type: 'object',
  properties: {
    'file path': { type: 'string', format: 'iban', minLength: 1 },
    depth: { $ref: '#/$defs/Depth' },
  },
  required: ['file path'],
  $defs: { Depth: { type: 'integer', minimum: 0 } },
};
const IMAGE = { type: 'image', data: 'aWNvbg==', mimeType: 'image/png' };

const portico = createPortico();
const files = new FakeServer({
  tools: [toolOf('read', { description: 'Read a file', inputSchema: SCHEMA }), toolOf('secret')],
});
const other = new FakeServer({
  tools: ['image', 'fail', 'refuse', 'ask', 'together', 'long'].map(name => toolOf(name)),
});

/** Calls of `together` are answered once all three have arrived. */
const WANTED = 3;
const waiting: (() => void)[] = [];
async function together(post: SeenPost): Promise<Response> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  waiting.push(() => resolve(undefined));
  if (waiting.length >= WANTED) for (const go of waiting.splice(0)) go();
  await promise;
  return resultOf(post, { content: [{ type: 'text', text: 'together' }] });
}

other.call = post => {
  const text = (said: string) => [{ type: 'text', text: said }];
  switch (post.params['name']) {
    case 'image':
      return resultOf(post, { content: [...text('An icon'), IMAGE] });
    case 'fail':
      return resultOf(post, { content: text('date must be in the future'), isError: true });
    case 'refuse': {
      const error = { code: -32602, message: 'depth must be a number' };
      return Response.json({ jsonrpc: '2.0', id: post.id, error });
    }
    case 'ask':
      return resultOf(post, { resultType: 'input_required', inputRequests: {} });
    case 'long':
      return resultOf(post, { content: text('x'.repeat(150_000)) });
    default:
      return together(post);
  }
};

const serveAll = () => serve({ files, other });
beforeAll(async () => {
  serveAll();
  for (const name of ['files', 'other']) await registerConnected(portico, name);
});
beforeEach(() => void serveAll());

async function exported(query: string, token?: string): Promise<Exported> {
  const sent = token === undefined ? {} : { token };
  const response = await portico.api('GET', `/api/v1/tools?${query}`, undefined, sent);
  return response.json<Exported>();
}
async function execute(body: object, token?: string) {
  const sent = token === undefined ? {} : { token };
  const response = await portico.api('POST', '/api/v1/tools/execute', body, sent);
  return { status: response.status, ...(await response.json<Executed>()) };
}
const chatCall = (id: string, name: string, given: string = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: given },
});
const callsOf = (server: FakeServer, name: string) =>
  server.of('tools/call').filter(({ params }) => params['name'] === name);

describe('the export', () => {
  it('[LLM-1] has the tools in the format of each API, names that map back and a report of losses', async () => {
    const [chat, responses, anthropic, gemini] = await Promise.all(
      FORMATS.map(format => exported(`format=${format}`)),
    );
    expect(chat?.tools).toContainEqual({
      type: 'function',
      function: { name: 'files__read', description: 'Read a file', parameters: SCHEMA },
    });
    expect(responses?.tools).toContainEqual(
      expect.objectContaining({ type: 'function', name: 'files__read', strict: false }),
    );
    const read = anthropic?.tools.find(({ name }) => name === 'files__read');
    const [renamed] = Object.keys(
      (read as unknown as { input_schema: typeof SCHEMA }).input_schema.properties,
    );
    expect(renamed).toMatch(/^file_path_[0-9a-f]{8}$/);
    const path = '/inputSchema/properties/file path';
    expect(anthropic?.losses).toEqual([
      { tool: 'files__read', path, kind: 'changed', detail: `named ${renamed}`, count: 1 },
    ]);
    expect(gemini?.tools).toEqual([{ functionDeclarations: expect.any(Array) }]);
    expect(gemini?.losses.map(loss => loss.path)).toContain(`${path}/minLength`);
    expect(JSON.stringify(gemini?.tools)).toContain('"depth":{"$ref":"#/$defs/Depth"}');
    expect(Object.keys(chat?.names ?? {}).toSorted()).toEqual(
      [
        'files__read',
        'files__secret',
        ...other.tools.map(each => `other__${(each as { name: string }).name}`),
      ].toSorted(),
    );
  });

  it('[LLM-1] [ACC-3] has what a token sees, restricted on request', async () => {
    const { token } = await createToken(portico, { tools: ['files.read', 'other.image'] });
    const all = await exported('format=openai-chat', token);
    expect(Object.values(all.names)).toEqual(['files__read', 'other__image']);
    expect(JSON.stringify(all)).not.toContain('secret');
    const one = await exported('format=gemini&server=files&strict=true', token);
    expect(one.names).toEqual({ files__read: 'files__read' });
    expect((await exported('format=mcp', token)).code).toBe('validation_failed');
    const listed = await exported('server=files', token);
    expect(listed).toMatchObject({ total: 1, servers: [{ name: 'files' }] });
  });
});

describe('the execution', () => {
  it('[LLM-2] executes calls in parallel and returns each result in its place', async () => {
    const calls = ['a', 'b', 'c'].map(id => chatCall(id, 'other__together'));
    const { results, messages } = await execute({ format: 'openai-chat', calls });
    expect(results.map(({ id, is_error: failed }) => [id, failed])).toEqual([
      ['a', false],
      ['b', false],
      ['c', false],
    ]);
    expect(messages).toEqual(
      ['a', 'b', 'c'].map(id => ({ role: 'tool', tool_call_id: id, content: 'together' })),
    );
  });

  it('[LLM-2] reports what goes wrong with one call in its result, and executes the others', async () => {
    const { token } = await createToken(portico, { tools: ['files.read', 'other.*'] });
    const calls = [
      chatCall('1', 'files__read', '{"file path":"a.txt","depth":2}'),
      chatCall('2', 'files__read', '{"file path":"a.tx'),
      chatCall('3', 'other__fail'),
      chatCall('4', 'other__refuse'),
      chatCall('5', 'other__ask'),
      chatCall('6', 'files__secret'),
      chatCall('7', 'files__no_such'),
      chatCall('8', 'files.read', '{"file path":"b"}'),
    ];
    const { results, messages } = await execute({ format: 'openai-chat', calls }, token);
    expect(results.map(each => each.is_error)).toEqual([false, ...Array(7).fill(true)]);
    const said = messages.map(({ content }) => String(content));
    expect(said[0]).toBe('{"file path":"a.txt","depth":2}');
    expect(said[1]).toContain('not valid JSON');
    expect(said[2]).toBe('The tool failed: date must be in the future');
    expect(said[3]).toContain('depth must be a number (-32602); correct the arguments');
    expect(said[4]).toContain('upstream_needs_input');
    expect(said[5]?.replace('files__secret', 'files__no_such')).toBe(said[6]);
    expect(said[7]).toContain('There is no tool files.read');
    expect(callsOf(files, 'secret')).toEqual([]);
    expect(callsOf(files, 'read')).toHaveLength(1);
  });

  it('[LLM-2] images are in the format of each API, and answers are read in theirs', async () => {
    const anthropic = await execute({
      format: 'anthropic',
      response: {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'other__image', input: {} },
        ],
        stop_reason: 'tool_use',
      },
    });
    const TEXT = { type: 'text', text: 'An icon' };
    const source = { type: 'base64', media_type: 'image/png', data: IMAGE.data };
    expect(anthropic.messages).toEqual([
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [TEXT, { type: 'image', source }],
          },
        ],
      },
    ]);
    const functionCall = { name: 'other__image', args: {} };
    const gemini = await execute({
      format: 'gemini',
      message: { role: 'model', parts: [{ functionCall, thoughtSignature: 'c2ln' }] },
    });
    const parts = [{ inlineData: { mimeType: 'image/png', data: IMAGE.data } }];
    const functionResponse = { name: 'other__image', response: { output: 'An icon' }, parts };
    expect(gemini.messages).toEqual([{ role: 'user', parts: [{ functionResponse }] }]);
    const responses = await execute({
      format: 'openai-responses',
      calls: [{ type: 'function_call', call_id: 'c1', name: 'other__image', arguments: '{}' }],
    });
    expect(responses.messages).toEqual([
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [
          { type: 'input_text', text: 'An icon' },
          { type: 'input_image', image_url: `data:image/png;base64,${IMAGE.data}` },
        ],
      },
    ]);
  });

  it('[LLM-1] [LLM-2] arguments get back the names of the tool, without placeholder nulls', async () => {
    const { names, tools } = await exported('format=gemini&server=files');
    const [declarations] = tools as [{ functionDeclarations: Record<string, unknown>[] }];
    const read = declarations.functionDeclarations.find(({ name }) => name === 'files__read');
    const [renamed = ''] = /file_path_[0-9a-f]{8}/.exec(JSON.stringify(read)) ?? [];
    const functionCall = { id: 'f1', name: names['files__read'], args: { [renamed]: 'a' } };
    const given = await execute({ format: 'gemini', calls: [{ functionCall }] });
    expect(given.results[0]?.result).toMatchObject({ content: [{ text: '{"file path":"a"}' }] });
    expect(given.messages[0]).toMatchObject({ parts: [{ functionResponse: { id: 'f1' } }] });
    const strict = await execute({
      format: 'openai-chat',
      strict: true,
      calls: [chatCall('s', 'files__read', '{"file path":"a","depth":null}')],
    });
    expect(strict.results[0]?.result).toMatchObject({ content: [{ text: '{"file path":"a"}' }] });
  });

  it('[LLM-2] a result that is too long for a model is cut, with a note', async () => {
    const { results } = await execute({
      format: 'openai-chat',
      calls: [chatCall('l', 'other__long')],
    });
    const text = JSON.stringify(results[0]?.result);
    expect(text.length).toBeLessThan(100_200);
    expect(text).toContain('[cut: 100000 of 150000 characters are shown]');
  });

  it('[LLM-2] an answer without calls has no results', async () => {
    const message = { role: 'assistant', content: 'It rains.' };
    const { results, messages } = await execute({ format: 'openai-chat', message });
    expect([results, messages]).toEqual([[], []]);
  });

  it.each([
    { format: 'openai-chat' },
    { format: 'openai-chat', calls: [], message: { role: 'assistant' } },
    { format: 'openai-chat', calls: [{ name: 'x' }] },
    { format: 'anthropic', message: { content: 7 } },
    { format: 'gemini', response: { candidates: [] } },
    { format: 'mcp', calls: [] },
    { format: 'openai-chat', calls: Array.from({ length: 129 }, () => chatCall('a', 'b')) },
  ])('[LLM-2] refuses what is no answer of a model: %j', async body => {
    const { status, code } = await execute(body);
    expect([status, code]).toEqual([422, 'validation_failed']);
  });

  it('[LLM-2] [ACC-2] requires tools:call, and each call has its row in the audit', async () => {
    const reader = await createPerson(portico, { scopes: ['tools:read'] });
    const calls = [
      chatCall('1', 'files__read', '{"file path":"a"}'),
      chatCall('2', 'files__no_such'),
      chatCall('3', 'files__read', '{'),
    ];
    expect((await execute({ format: 'openai-chat', calls }, reader.token)).status).toBe(403);
    expect(await rowsOf(portico, reader)).toMatchObject([
      { action: 'tool.call', subject: '/api/v1/tools/execute', outcome: 'denied' },
    ]);
    const person = await createPerson(portico, { scopes: ['tools:read', 'tools:call'] });
    await execute({ format: 'openai-chat', calls }, person.token);
    const rows = await rowsOf(portico, person);
    expect(rows.map(({ action, outcome }) => `${action} ${outcome}`).toSorted()).toEqual([
      'tool.call denied',
      'tool.call done',
      'tool.call failed',
    ]);
  });
});
