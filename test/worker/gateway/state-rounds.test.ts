/** A modern server that asks for nothing but its own state back: the call goes on for callers that cannot do that themselves. */
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, resultOf, serve, streamOf, type SeenPost } from '../support/fake-server.ts';
import {
  createPortico,
  initialize,
  inSession,
  legacy,
  modern,
  registerConnected,
  type RpcAnswer,
} from '../support/portico.ts';

const portico = createPortico();
const server = new FakeServer({ era: 'modern' });
const DONE = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };
const wanting = (requestState: string, more: object = {}) => ({
  resultType: 'input_required',
  requestState,
  ...more,
});

/** Wants these states back, one after another, before it is done. */
const stepsOf =
  (...states: readonly string[]) =>
  (post: SeenPost) => {
    const next = states[states.indexOf(String(post.params['requestState'])) + 1];
    return resultOf(post, next === undefined ? DONE : wanting(next));
  };

const seen = () => server.of('tools/call').map(({ params }) => params);

beforeEach(async () => {
  serve({ stately: server });
  if (server.posts.length === 0) await registerConnected(portico, 'stately');
  server.posts.length = 0;
});

async function callLegacy(headers: Record<string, string> = {}): Promise<RpcAnswer> {
  const call = legacy('tools/call', { name: 'stately.echo', arguments: { a: 1 } });
  return (await portico.post(call, { headers })).json<RpcAnswer>();
}

describe('a server that wants only its state back', () => {
  it.each([
    ['without a session', async () => ({})],
    ['in a session', async () => inSession(await initialize(portico))],
  ])('[MCP-4] [MCP-5] goes on with the call of a legacy client %s', async (_what, headersOf) => {
    server.call = stepsOf('one', 'two "quoted" \u00e9');
    const { result } = await callLegacy(await headersOf());
    expect(result?.content).toEqual(DONE.content);
    const states = ['one', 'two "quoted" \u00e9'].map(requestState => ({ requestState }));
    expect(seen()).toMatchObject([{ arguments: { a: 1 } }, ...states]);
    expect(JSON.stringify(seen())).not.toContain('inputResponses');
  });

  it('[MCP-4] goes on with a call of the REST interface', async () => {
    server.call = stepsOf('one');
    const call = { name: 'stately.echo', arguments: {} };
    const answer = await portico.api('POST', '/api/v1/tools/call', call);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ content: DONE.content });
    expect(seen()).toHaveLength(2);
  });

  it('[MCP-4] goes on after a stream, and passes on what comes meanwhile', async () => {
    const progress = { jsonrpc: '2.0', method: 'notifications/progress' };
    server.call = post => {
      const isLast = post.params['requestState'] === 'one';
      const params = { progressToken: 'p', progress: isLast ? 2 : 1 };
      const result = isLast ? DONE : wanting('one', { inputRequests: {} });
      return streamOf({ ...progress, params }, { jsonrpc: '2.0', id: post.id, result });
    };
    const params = { name: 'stately.echo', arguments: {}, _meta: { progressToken: 'p' } };
    const text = await (await portico.post(legacy('tools/call', params))).text();
    expect(text.match(/"progress":\d/g)).toEqual(['"progress":1', '"progress":2']);
    expect(text).toContain('done');
    expect(text).not.toContain('input_required');
  });

  it('[MCP-4] [SEC-9] is not followed without an end', async () => {
    server.call = post => resultOf(post, wanting('again'));
    const { result } = await callLegacy();
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain('stately');
    expect(seen()).toHaveLength(16);
  });

  it('[MCP-4] is left to a modern client, which decides itself', async () => {
    server.call = stepsOf('one');
    const { message, headers } = modern('tools/call', { name: 'stately.echo', arguments: {} });
    const { result } = await (await portico.post(message, { headers })).json<RpcAnswer>();
    expect(result).toMatchObject({ resultType: 'input_required' });
    expect(seen()).toHaveLength(1);
  });
});
