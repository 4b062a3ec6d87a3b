/** Questions of a shared stdio server: they reach the client that they concern, or nobody. */
import { Client as Client2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { closeStands, node, openStand, publicServer } from '../support/stdio-stand.ts';
import { openWireSession, type WireSession } from '../support/wire-session.ts';

afterAll(closeStands);

const conformance = (sdk: '1' | '2') => node('test/fixtures/conformance-stdio.ts', '--sdk', sdk);
const odd = () => node('test/fixtures/odd-stdio.ts');
const ALL = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
const QUESTIONS = [
  ['sampling/createMessage', { sampling: {} }, {}],
  ['elicitation/create', { elicitation: {} }, { mode: 'form', message: 'Who?' }],
  ['elicitation/create', { elicitation: { url: {} } }, { mode: 'url', elicitationId: 'e1' }],
  ['roots/list', { roots: {} }, {}],
] as const;

const isQuestion = ({ id, method }: Record<string, unknown>) =>
  id !== undefined && method !== undefined;
const isAnswer = ({ id, method }: Record<string, unknown>) => id !== undefined && !method;

/** Connects a client of the 2.x SDK that answers every question. */
async function connectAnswering(url: string, mode: 'auto' | 'legacy'): Promise<Client2> {
  const client = new Client2(
    { name: 'answering', version: '1.0.0' },
    { capabilities: ALL, versionNegotiation: { mode } },
  );
  client.setRequestHandler('sampling/createMessage', () => ({
    model: 'm',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'sampled' },
  }));
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept' as const,
    content: { name: 'Ada' },
  }));
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///a', name: 'a' }] }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** Returns the answer to a question of the odd server, which gives it as text. */
async function answeredAs(session: WireSession, method: string, params: object) {
  const asking = await session.call('ask', { method, params });
  const answer = await asking.heard('the answer', isAnswer);
  const { content } = answer['result'] as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '') as Record<string, unknown>;
}

/** Returns the answers that the odd server got outside of calls so far. */
const answersLater = async (session: WireSession): Promise<string> => {
  const answer = await session.call('later');
  await answer.over;
  return answer.text();
};

/** Makes the odd server ask outside of any call. It answers later requests only after its question, which was handled while no call ran. */
async function askLater(session: WireSession): Promise<void> {
  const call = await session.call('ask-later', { method: 'roots/list' });
  await call.over;
  const list = await session.send({ id: 'behind it', method: 'tools/list' });
  await list.over;
}

describe('[CLI-1] a question in mid-call', () => {
  it.each([
    ['1', 'legacy'],
    ['1', 'auto'],
    ['2', 'auto'],
  ] as const)('is answered by a real client: SDK %s, client %s', async (sdk, mode) => {
    const stand = await openStand(conformance(sdk));
    const client = await connectAnswering(stand.url, mode);
    const run = async (name: string) =>
      (await client.callTool({ name, arguments: {} })).content as { text: string }[];
    expect((await run('test_input_required_result_elicitation'))[0]?.text).toBe('Hello, Ada!');
    expect((await run('test_input_required_result_sampling'))[0]?.text).toContain('sampled');
    expect((await run('test_input_required_result_list_roots'))[0]?.text).toBe('1 root(s)');
    expect((await run('test_input_required_result_multiple_inputs'))[0]?.text).toContain('Ada, 1');
    await client.close();
    await stand.close();
  });

  it('is answered by a client of the public demo server', async () => {
    const stand = await openStand(publicServer('everything'));
    const client = await connectAnswering(stand.url, 'legacy');
    const given = { prompt: 'hello', maxTokens: 10 };
    const { content } = await client.callTool({
      name: 'trigger-sampling-request',
      arguments: given,
    });
    expect(JSON.stringify(content)).toContain('sampled');
    await client.close();
    await stand.close();
  });

  it.each(QUESTIONS)(
    'goes on the stream of the call: %s to %j',
    async (method, capabilities, params) => {
      const stand = await openStand(odd());
      const session = await openWireSession(stand.url, capabilities);
      const asking = await session.call('ask', { method, params }, 'call');
      expect(asking.type).toContain('event-stream');
      const question = await asking.heard('the question', isQuestion);
      expect(question).toMatchObject({ method, params });
      const answer = { id: question['id'], result: { answered: 'by me' } };
      expect((await session.send(answer)).status).toBe(202);
      const last = await asking.heard('the answer', isAnswer);
      expect(JSON.stringify(last)).toContain('by me');
      expect(last['id']).toBe('call');
      await stand.close();
    },
  );

  it.each(QUESTIONS)(
    'is refused for a client that did not declare the capability: %s',
    async (method, _can, params) => {
      const stand = await openStand(odd());
      const others = Object.fromEntries(
        Object.entries(ALL).filter(([name]) => !method.startsWith(name)),
      );
      const session = await openWireSession(stand.url, others);
      const [name] = method.split('/');
      expect(await answeredAs(session, method, params)).toMatchObject({
        error: {
          code: -32601,
          message: `The client does not support ${name} (${method})`,
        },
      });
      await stand.close();
    },
  );

  it('is asked only by a program that was started with the capability', async () => {
    const stand = await openStand(publicServer('everything'), { capabilities: ['sampling'] });
    const client = await connectAnswering(stand.url, 'legacy');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('trigger-sampling-request');
    expect(names).not.toContain('get-roots-list');
    await client.close();
    await stand.close();
  });

  it('of another kind is refused', async () => {
    const stand = await openStand(odd());
    const session = await openWireSession(stand.url, ALL);
    expect(await answeredAs(session, 'no/such', {})).toMatchObject({ error: { code: -32601 } });
    expect(await answeredAs(session, 'ping', {})).toMatchObject({ result: {} });
    const page = { mode: 'url', url: 'https://a.test', elicitationId: 'e' };
    const formsOnly = await openWireSession(stand.url, { elicitation: {} });
    expect(await answeredAs(formsOnly, 'elicitation/create', page)).toHaveProperty('error');
    await stand.close();
  });

  it('goes to the latest call of a session with several', async () => {
    const stand = await openStand(odd());
    const session = await openWireSession(stand.url, ALL);
    const first = await session.call('ask', { method: 'roots/list' });
    const question = await first.heard('the first question', isQuestion);
    const second = await session.call('ask', { method: 'roots/list' });
    const next = await second.heard('the second question', isQuestion);
    await session.send({ id: next['id'], result: { of: 'second' } });
    await session.send({ id: question['id'], result: { of: 'first' } });
    expect(JSON.stringify(await first.heard('its answer', isAnswer))).toContain('first');
    expect(JSON.stringify(await second.heard('its answer', isAnswer))).toContain('second');
    await stand.close();
  });

  it('is refused while calls of two sessions are under way, whoever could answer', async () => {
    const stand = await openStand(odd());
    const [one, two] = [await openWireSession(stand.url, ALL), await openWireSession(stand.url)];
    const asking = await one.call('ask', { method: 'roots/list' });
    const question = await asking.heard('the question', isQuestion);
    expect(await answeredAs(two, 'roots/list', {})).toMatchObject({
      error: { message: 'No client can answer this' },
    });
    expect(asking.messages()).toHaveLength(1);
    await one.send({ id: question['id'], result: {} });
    await asking.heard('the answer', isAnswer);
    await stand.close();
  });

  it('is refused while a cancelled call of another session may be the one that asks', async () => {
    const stand = await openStand(odd(), { limits: { cancelledMs: 60_000 } });
    const [one, two] = [
      await openWireSession(stand.url, ALL),
      await openWireSession(stand.url, ALL),
    ];
    const asking = await one.call('ask', { method: 'roots/list' }, 'gone');
    await asking.heard('the question', isQuestion);
    await one.send({ method: 'notifications/cancelled', params: { requestId: 'gone' } });
    await asking.over;
    expect(await answeredAs(two, 'roots/list', {})).toHaveProperty('error');
    await stand.close();
  });

  it('is asked once the server has seen that the call of another session was cancelled', async () => {
    const stand = await openStand(odd(), { limits: { cancelledMs: 0 } });
    const [one, two] = [
      await openWireSession(stand.url, ALL),
      await openWireSession(stand.url, ALL),
    ];
    const asking = await one.call('ask', { method: 'roots/list' }, 'gone');
    await asking.heard('the question', isQuestion);
    await one.send({ method: 'notifications/cancelled', params: { requestId: 'gone' } });
    await asking.over;
    const next = await until('a question', 60_000, async () => {
      const call = await two.call('ask', { method: 'roots/list' });
      await call.heard('something', () => true);
      return call.messages().find(isQuestion) ? call : undefined;
    });
    const { id, method } = await next.heard('the question', isQuestion);
    expect(method).toBe('roots/list');
    await two.send({ id, result: {} });
    await next.over;
    await stand.close();
  });

  it('can be answered only by the session that was asked', async () => {
    const stand = await openStand(odd());
    const [one, two] = [
      await openWireSession(stand.url, ALL),
      await openWireSession(stand.url, ALL),
    ];
    const asking = await one.call('ask', { method: 'roots/list' });
    const { id } = await asking.heard('the question', isQuestion);
    expect((await two.send({ id, result: { of: 'two' } })).status).toBe(202);
    expect((await one.send({ id, result: { of: 'one' } })).status).toBe(202);
    expect((await one.send({ id, result: { of: 'late' } })).status).toBe(202);
    expect(JSON.stringify(await asking.heard('the answer', isAnswer))).toContain('of');
    expect(JSON.stringify(asking.messages().at(-1))).toContain('one');
    await stand.close();
  });

  it('goes without a call to the only session that listens and can answer, else to nobody', async () => {
    // One process serves all, so its calls do not show whose questions these are.
    const capabilities = ['roots', 'sampling', 'elicitation'] as const;
    const stand = await openStand(odd(), { capabilities });
    const [one, two] = [await openWireSession(stand.url, ALL), await openWireSession(stand.url)];
    const [stream, other] = [await one.listen(), await two.listen()];
    await askLater(two);
    const question = await stream.heard('the question', isQuestion);
    await one.send({ id: question['id'], result: { answered: true } });
    await until('the answer', 60_000, async () =>
      (await answersLater(two)).includes('answered') ? true : undefined,
    );
    expect(other.messages()).toEqual([]);
    const three = await openWireSession(stand.url, ALL);
    await three.listen();
    await askLater(two);
    await until('a refusal', 60_000, async () =>
      (await answersLater(two)).includes('No client can answer this') ? true : undefined,
    );
    await stand.close();
  });
});
