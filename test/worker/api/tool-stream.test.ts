/** `POST /api/v1/tools/call` as a stream: a server's messages, its result, its server requests, and errors. */
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { SseParser } from '../../../src/http/sse-events.ts';
import { connectAsking } from '../support/asking-clients.ts';
import { answerTo } from '../support/asking-script.ts';
import { FakeServer, resultOf, serve, streamOf, toolOf } from '../support/fake-server.ts';
import { createPortico, createToken, PATIENT, registerConnected } from '../support/portico.ts';

const CALL = '/api/v1/tools/call';
const EVENTS = { accept: 'text/event-stream' };

const portico = createPortico();
const server = new FakeServer({
  era: 'modern',
  tools: [toolOf('work')],
  capabilities: { logging: {} },
});
const tokens: Record<string, string> = {};

interface Told {
  event: string;
  data: Record<string, unknown>;
}

async function call(body: object, token = tokens['ada'] ?? ''): Promise<Told[]> {
  const response = await portico.api('POST', CALL, body, { token, headers: EVENTS });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  return new SseParser(1e6)
    .push(await response.text())
    .map(({ event, data }) => ({ event, data: JSON.parse(data) as Told['data'] }));
}

beforeAll(async () => {
  serve({ files: server });
  await registerConnected(portico, 'files');
  for (const name of ['ada', 'bob']) {
    const scopes = ['tools:read', 'tools:call'];
    tokens[name] = (await createToken(portico, { name, scopes })).token;
  }
});
beforeEach(() => {
  serve({ files: server });
  server.call = post => resultOf(post, { content: [] });
});

describe('a call as a stream', () => {
  it('[MCP-5] sends progress and messages as they come, and the result last', async () => {
    server.call = post => {
      const { progressToken } = post.params['_meta'] as { progressToken: number };
      const note = (method: string, params: object) => ({ jsonrpc: '2.0', method, params });
      return streamOf(
        note('notifications/progress', { progressToken, progress: 1, total: 2, message: 'half' }),
        note('notifications/message', { level: 'debug', data: 'not wanted' }),
        note('notifications/message', { level: 'info', data: 'at work' }),
        note('notifications/elsewhere', {}),
        { jsonrpc: '2.0', id: post.id, result: { content: [{ type: 'text', text: 'done' }] } },
      );
    };
    const told = await call({ name: 'files.work' });
    expect(told.slice(0, -1)).toEqual([
      { event: 'progress', data: { progress: 1, total: 2, message: 'half' } },
      { event: 'log', data: { level: 'info', data: 'at work' } },
    ]);
    expect(told.at(-1)).toMatchObject({
      event: 'result',
      data: {
        content: [{ type: 'text', text: 'done' }],
        isError: false,
        metadata: { routed_to: 'files' },
      },
    });
  });

  it('[MCP-5] sends the server request to its reader, and continues with the answer', async () => {
    const ask = {
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object' } },
    };
    server.call = post =>
      post.params['requestState'] === 'of-the-server'
        ? resultOf(post, { content: [{ type: 'text', text: JSON.stringify(post.params) }] })
        : resultOf(post, {
            resultType: 'input_required',
            inputRequests: { sure: ask },
            requestState: 'of-the-server',
          });
    const [first, ...more] = await call({ name: 'files.work' });
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      event: 'input_required',
      data: { input_requests: { sure: ask } },
    });
    const state = String(first?.data['request_state']);
    expect(state).not.toContain('of-the-server');
    const answers = { sure: { action: 'accept', content: { yes: true } } };
    const again = { name: 'files.work', input_responses: answers, request_state: state };
    const [last] = await call(again);
    expect(last?.event).toBe('result');
    const [{ text = '' } = {}] = (last?.data['content'] ?? []) as { text?: string }[];
    expect(JSON.parse(text)).toMatchObject({ inputResponses: answers });
    // It belongs to one principal and one call.
    expect(await call(again, tokens['bob'])).toMatchObject([
      { event: 'error', data: { code: 'invalid_params', status: 400 } },
    ]);
  });

  it.each(['http-legacy', 'sse-legacy'] as const)(
    '[MCP-5] forwards the requests of a server of kind %s during the call',
    async kind => {
      const { name, server: asking } = await connectAsking(portico, kind);
      const plan = { mark: `stream-${kind}`, rounds: 2 };
      const asked = { name: `${name}.ask`, arguments: plan };
      const told = async (body: object) =>
        (await call(body)).filter(({ event }) => event !== 'log').at(0);
      let last = await told(asked);
      const messages: string[] = [];
      while (last?.event === 'input_required') {
        const [[key, { params }] = ['', { params: { message: '' } }]] = Object.entries(
          last.data['input_requests'] as Record<string, { params: { message: string } }>,
        );
        messages.push(params.message);
        const input_responses = { [key]: answerTo(params.message, 'ada') };
        last = await told({ ...asked, input_responses, request_state: last.data['request_state'] });
      }
      expect(messages).toEqual([`${plan.mark}#0`, `${plan.mark}#1`]);
      expect(last?.event).toBe('result');
      expect(JSON.stringify(last?.data)).toContain('ada');
      expect(asking.call(plan.mark)).toMatchObject({ arrivals: 1, done: true });
    },
  );

  it('[MCP-8] reports an error as a problem', async () => {
    expect(await call({ name: 'files.nothing' })).toMatchObject([
      { event: 'error', data: { code: 'tool_not_found', status: 404 } },
    ]);
    server.call = post =>
      Response.json({ jsonrpc: '2.0', id: post.id, error: { code: -32_000, message: 'No' } });
    expect(await call({ name: 'files.work' })).toMatchObject([
      { event: 'error', data: { code: 'upstream_4xx', detail: 'No (-32000)' } },
    ]);
  });

  it.each(['http-modern', 'http-legacy'] as const)(
    '[MCP-6] is cancelled at a server of kind %s when its reader disconnects',
    async kind => {
      const { name, server: asking } = await connectAsking(portico, kind);
      const plan = { mark: `gone-${kind}`, rounds: 0, hang: true };
      const sent = { token: tokens['ada'] ?? '', headers: EVENTS };
      const body = { name: `${name}.ask`, arguments: plan };
      const response = await portico.api('POST', CALL, body, sent);
      await vi.waitFor(() => expect(asking.call(plan.mark)).toBeDefined(), PATIENT);
      await response.body?.cancel();
      const seen = { cut: true, done: false };
      await vi.waitFor(() => expect(asking.call(plan.mark)).toMatchObject(seen), PATIENT);
    },
  );
});

it('[MCP-5] accepts answers only in a stream, and a plain call gets an error instead', async () => {
  server.call = post => resultOf(post, { resultType: 'input_required', inputRequests: {} });
  const token = tokens['ada'] ?? '';
  const plain = await portico.api('POST', CALL, { name: 'files.work' }, { token });
  expect((await plain.json<{ code: string }>()).code).toBe('upstream_needs_input');
  const body = { name: 'files.work', request_state: 'x' };
  const refused = await portico.api('POST', CALL, body, { token });
  expect([refused.status, await refused.json()]).toMatchObject([
    422,
    { code: 'validation_failed' },
  ]);
});
