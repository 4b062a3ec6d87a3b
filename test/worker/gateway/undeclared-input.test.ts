/** A modern client never gets a server request beyond its capabilities. And under which token it gets progress on a retry. */
import { describe, expect, it } from 'vitest';
import { answersOf, callModern, connectAsking } from '../support/asking-clients.ts';
import { FakeServer, resultOf, serve } from '../support/fake-server.ts';
import { createPortico, modern, registerConnected, type RpcAnswer } from '../support/portico.ts';

const portico = createPortico();
const PARKING = ['http-legacy', 'http-standing', 'sse-legacy'] as const;

const asking = new FakeServer({ era: 'modern' });
let asked: object = {};
asking.call = post =>
  resultOf(post, { resultType: 'input_required', inputRequests: asked, requestState: 's' });

async function ask(inputRequests: object, capabilities: object) {
  serve({ asking });
  asked = inputRequests;
  const { message, headers } = modern('tools/call', { name: 'asking.echo', arguments: {} });
  Object.assign(message.params._meta, {
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  });
  const response = await portico.post(message, { headers });
  return { status: response.status, ...(await response.json<RpcAnswer>()) };
}

const form = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: {} } };
const url = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Go', url: 'https://example.com/', elicitationId: 'e' },
};
const sample = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };
const sampleTools = { ...sample, params: { ...sample.params, tools: [] } };
const roots = { method: 'roots/list', params: {} };

describe('a modern server with a server request', () => {
  it.each<[string, object, object, object]>([
    ['a form of a client without anything', { a: form }, {}, { elicitation: { form: {} } }],
    [
      'an address of a client with forms',
      { a: url },
      { elicitation: {} },
      { elicitation: { url: {} } },
    ],
    [
      'a form of a client with addresses',
      { a: form },
      { elicitation: { url: {} } },
      { elicitation: { form: {} } },
    ],
    ['a model of a client with roots', { a: sample }, { roots: {} }, { sampling: {} }],
    ['tools of a model without', { a: sampleTools }, { sampling: {} }, { sampling: { tools: {} } }],
    ['roots of a client without', { a: roots }, { sampling: {} }, { roots: {} }],
    [
      'two things of which one is missing',
      { a: form, b: roots },
      { elicitation: {} },
      { roots: {} },
    ],
  ])(
    '[MCP-4] [MCP-7] %s is refused with the error of the protocol',
    async (_what, questions, capabilities, required) => {
      serve({ asking });
      if (asking.of('server/discover').length === 0) await registerConnected(portico, 'asking');
      const answer = await ask(questions, capabilities);
      expect(answer).toMatchObject({
        status: 400,
        error: { code: -32021, data: { requiredCapabilities: required } },
      });
      expect(JSON.stringify(answer)).not.toContain('inputRequests');
    },
  );

  it('[MCP-4] within the capabilities is passed on', async () => {
    const all = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
    const questions = {
      a: form,
      b: url,
      c: sample,
      d: sampleTools,
      e: roots,
      f: { method: 'x/y' },
    };
    const { result } = await ask(questions, all);
    expect(result).toMatchObject({ resultType: 'input_required', inputRequests: questions });
  });
});

describe.each(PARKING)('a call to %s with a server request', kind => {
  const tokensOf = (messages: object[]) =>
    (messages as { method: string; params: { progressToken?: unknown } }[])
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => params.progressToken);

  it.each([
    ['another', 'second', ['second']],
    ['a number', 7, [7]],
  ])(
    '[MCP-4] reports its progress under the token of the retry: %s',
    async (_what, progressToken, expected) => {
      const { name } = await connectAsking(portico, kind);
      const plan = { mark: `${name}-${progressToken}`, rounds: 1, progress: true };
      const first = await callModern(portico, name, plan);
      expect(tokensOf(first.before)).toEqual([plan.mark]);
      const responses = answersOf(first.questions, 'ada');
      const more = { state: first.state, responses, progressToken };
      const second = await callModern(portico, name, plan, more);
      expect(tokensOf(second.before)).toEqual(expected);
    },
  );
});
