/** A caller without an account at a server gets the link to connect one: modern clients, by their support of links. */
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import {
  CALLS,
  connect,
  KINDS,
  LINKS,
  linkTo,
  METHODS,
  NAMES,
  RESULTS,
  told,
  useAccountServers,
  type Method,
} from '../support/account-servers.ts';
import { createPerson, type Person } from '../support/call-rows.ts';
import { resultOf } from '../support/fake-server.ts';
import { createPortico, MODERN, modern, type RpcAnswer } from '../support/portico.ts';

const of = useAccountServers();
const { portico } = of;

interface Asked {
  resultType?: string;
  requestState?: string;
  inputRequests?: Record<string, { method: string; params: Record<string, unknown> }>;
}

/** A call of a modern client. */
async function ask(
  { token }: Person,
  method: Method,
  params: object,
  declared: object = LINKS,
  path = '/mcp',
): Promise<RpcAnswer & { result?: Asked }> {
  const { message, headers } = modern(method, params as Record<string, unknown>);
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': declared,
  };
  const sent = { ...message, params: { ...message.params, _meta: meta } };
  return (await portico.post(sent, { token, headers }, path)).json();
}

/** The params of the retry, with the same answer to every server request. */
const answering = (
  params: object,
  { requestState, inputRequests = {} }: Asked = {},
  action: string,
) => ({
  ...params,
  ...(requestState === undefined ? {} : { requestState }),
  inputResponses: Object.fromEntries(Object.keys(inputRequests).map(key => [key, { action }])),
});

describe.each(NAMES)('a modern client that opens links, at a server: %s', name => {
  it.each(METHODS)(
    '[ACC-8] [MCP-4] is asked to connect, and its %s continues when it is sent again',
    async method => {
      const params = CALLS[method](name);
      const first = await ask(of.ada, method, params);
      const { inputRequests = {}, requestState, ...rest } = first.result ?? {};
      expect(rest).toEqual({ resultType: 'input_required' });
      expect(requestState).toEqual(expect.any(String));
      expect(Object.values(inputRequests)).toEqual([
        {
          method: 'elicitation/create',
          params: { mode: 'url', message: expect.stringContaining(name), url: linkTo(name) },
        },
      ]);
      expect(KINDS[name].of(method)).toEqual([]);

      // Without an account it is asked again.
      const again = await ask(of.ada, method, answering(params, first.result, 'accept'));
      expect(again.result?.resultType).toBe('input_required');
      expect((await connect(of.ada, name)).status).toBe(201);
      const done = await ask(of.ada, method, answering(params, again.result, 'accept'));
      expect(done.result).toMatchObject(RESULTS[method]);

      const [post, ...more] = KINDS[name].of(method);
      expect(more).toEqual([]);
      expect(post?.headers.get('authorization')).toBe('Bearer of-ada');
      expect(Object.keys(post?.params ?? {})).not.toContain('inputResponses');
      expect(Object.keys(post?.params ?? {})).not.toContain('requestState');
      expect(await told(of.ada)).toEqual([
        ['failed', 'account_required'],
        ['failed', 'account_required'],
        ['done', null],
      ]);
    },
  );

  it.each(['decline', 'cancel'])(
    '[ACC-8] gets the failure if its user chooses %s',
    async action => {
      const params = CALLS['tools/call'](name);
      const first = await ask(of.ada, 'tools/call', params);
      const refused = await ask(of.ada, 'tools/call', answering(params, first.result, action));
      expect(refused.result?._meta?.['portico/reason']).toBe('account_required');
      expect(refused.result?.content?.[0]?.text).toContain(linkTo(name));
      // A user who connected an account anyway is served.
      await connect(of.ada, name);
      const served = await ask(of.ada, 'tools/call', answering(params, first.result, action));
      expect(served.result).toMatchObject(RESULTS['tools/call']);
    },
  );

  it('[ACC-8] is asked if the server refuses its account', async () => {
    await connect(of.ada, name);
    KINDS[name].outage = () => new Response('no', { status: 401 });
    const asked = await ask(of.ada, 'tools/call', CALLS['tools/call'](name));
    KINDS[name].outage = undefined;
    expect(asked.result?.resultType).toBe('input_required');
    expect(Object.values(asked.result?.inputRequests ?? {})[0]?.params['url']).toBe(linkTo(name));
    expect(await told(of.ada)).toEqual([['failed', 'account_required']]);
  });
});

describe.each(NAMES)('a modern client that opens no links, at a server: %s', name => {
  it.each([{}, { elicitation: {} }, { elicitation: { form: {} } }, { sampling: {}, roots: {} }])(
    '[ACC-8] gets a failure with the link, having declared %j',
    async declared => {
      const { result } = await ask(of.ada, 'tools/call', CALLS['tools/call'](name), declared);
      expect([result?.isError, result?._meta?.['portico/reason']]).toEqual([
        true,
        'account_required',
      ]);
      expect(result?.content?.[0]?.text).toContain(`${linkTo(name)} `);
      for (const method of ['prompts/get', 'resources/read'] as const) {
        const { error } = await ask(of.ada, method, CALLS[method](name), declared);
        expect(error).toMatchObject({ code: 4032, data: { connect_url: linkTo(name) } });
        expect(error?.message).toContain(linkTo(name));
      }
    },
  );
});

describe('the server request', () => {
  const params = CALLS['tools/call']('modern');

  it('[ACC-8] [MCP-4] is bound to its principal and its call', async () => {
    const { result } = await ask(of.ada, 'tools/call', params);
    const bob = await createPerson(portico);
    const retry = answering(params, result, 'accept');
    const byBob = await ask(bob, 'tools/call', retry);
    expect(byBob.error?.code).toBe(-32602);
    const other = await ask(of.ada, 'tools/call', { ...retry, arguments: { a: 2 } });
    expect(other.error?.code).toBe(-32602);
    await connect(of.ada, 'modern');
    expect((await ask(of.ada, 'tools/call', retry)).result).toMatchObject(RESULTS['tools/call']);
  });

  it('[ACC-8] in the middle of a dialog with the server preserves the server’s own state', async () => {
    await connect(of.ada, 'modern');
    const question = {
      method: 'elicitation/create',
      params: { mode: 'url', message: 'm', url: 'https://a.example.com' },
    };
    const states: unknown[] = [];
    const { call } = KINDS.modern;
    KINDS.modern.call = post => {
      states.push([post.params['requestState'], post.params['inputResponses']]);
      const inputRequests = { connect_account: question };
      return resultOf(post, { resultType: 'input_required', inputRequests, requestState: 'own' });
    };
    const first = await ask(of.ada, 'tools/call', params);
    await env.DB.prepare('DELETE FROM accounts').run();
    const bare = createPortico();
    const lost = await (async () => {
      const { message, headers } = modern('tools/call', answering(params, first.result, 'accept'));
      const meta = {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientCapabilities': LINKS,
      };
      const sent = { ...message, params: { ...message.params, _meta: meta } };
      return (await bare.post(sent, { token: of.ada.token, headers })).json<
        RpcAnswer & { result?: Asked }
      >();
    })();
    expect(Object.values(lost.result?.inputRequests ?? {})[0]?.params['url']).toBe(
      linkTo('modern'),
    );
    await connect(of.ada, 'modern');
    await ask(of.ada, 'tools/call', answering(params, lost.result, 'accept'));
    // An answer to the server's own request of that name goes to the server.
    await ask(of.ada, 'tools/call', answering(params, first.result, 'accept'));
    KINDS.modern.call = call;
    expect(states).toEqual([
      [undefined, undefined],
      ['own', undefined],
      ['own', { connect_account: { action: 'accept' } }],
    ]);
  });

  it('[ACC-8] with a malformed answer is refused, and the server gets nothing', async () => {
    const { result } = await ask(of.ada, 'tools/call', params);
    await connect(of.ada, 'modern');
    const retry = { ...answering(params, result, 'accept'), inputResponses: [1] };
    expect((await ask(of.ada, 'tools/call', retry)).error?.code).toBe(-32602);
    expect(KINDS.modern.of('tools/call')).toEqual([]);
  });

  it('[ACC-8] is not sent to the token of the deployment, which can have no account', async () => {
    const { message, headers } = modern('tools/call', params);
    const answer = await (await portico.post(message, { headers })).json<RpcAnswer>();
    const text = answer.result?.content?.[0]?.text ?? '';
    expect(text).toContain('account_required');
    expect(text).toContain('token of the deployment');
    expect(text).not.toContain('/connect/');
  });
});
