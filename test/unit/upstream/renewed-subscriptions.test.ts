/** A monitor's subscriptions at a legacy server, which a discovery renews in a new session, and which end and begin again. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { UpstreamWatch } from '../../../src/upstream/discovery/watch.ts';
import { endpoint } from './a-destination.ts';

afterEach(() => vi.restoreAllMocks());

const RESULTS: Record<string, object> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} },
  'tools/list': { tools: [] },
};
const REFUSAL = { error: { code: -32002, message: 'no' } };

type Given = Response | object | undefined;

/** A monitor's connection to a legacy server. @param answer answers a subscription or its end; undefined if the server accepts it */
function watch(uris: string[], answer: (uri: string, isSubscription: boolean) => Promise<Given>) {
  const asked: string[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    if (init?.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method, params } = JSON.parse(String(init.body)) as {
      id?: number;
      method: string;
      params?: { uri: string };
    };
    if (id === undefined) return new Response(null, { status: 202 });
    const headers = { 'mcp-session-id': 'u' };
    const rpc = (more: object) => Response.json({ jsonrpc: '2.0', id, ...more }, { headers });
    if (method.startsWith('resources/') && params) {
      const isSubscription = method === 'resources/subscribe';
      asked.push(`${isSubscription ? '+' : '-'} ${params.uri}`);
      const given = await answer(params.uri, isSubscription);
      return given instanceof Response ? given : rpc(given ?? { result: {} });
    }
    const result = RESULTS[method];
    return result ? rpc({ result }) : rpc({ error: { code: -32601, message: 'unknown' } });
  });
  const watching = new UpstreamWatch(endpoint, {
    transport: 'http',
    maxBytes: 1e6,
    onEvent() {},
    onUpdated() {},
    uris: async () => [...uris],
    wantsLists: false,
    memory: { find: async () => undefined, keep: async () => {}, drop: async () => {} },
  });
  const deadline = createDeadline(60_000);
  const over = () => {
    watching.close();
    deadline.release();
  };
  return { watching, asked, deadline, over };
}

describe('[MCP-4] [MCP-12] a subscription that is renewed', () => {
  it('and ends meanwhile is ended at the server too', async () => {
    const uris = ['note://a', 'note://b'];
    const onAsked = Promise.withResolvers<() => void>();
    const { watching, asked, deadline, over } = watch(uris, (uri, isSubscription) =>
      uri === 'note://a' && isSubscription
        ? new Promise(resolve => onAsked.resolve(() => resolve(undefined)))
        : Promise.resolve(undefined),
    );
    const discovering = watching.discover(deadline);
    const accept = await onAsked.promise;
    uris.length = 0;
    await Promise.all(['note://a', 'note://b'].map(uri => watching.unsubscribe(uri)));
    accept();
    await discovering;
    expect(asked).toEqual(['+ note://a', '+ note://b', '- note://a', '- note://b']);
    over();
  });

  it.each([
    ['an error', REFUSAL],
    ['status 400', new Response('no', { status: 400 })],
    ['status 500', new Response('no', { status: 500 })],
  ])(
    'and refused with %s fails no discovery, and is not held to be subscribed to',
    async (_what, given) => {
      const { watching, asked, deadline, over } = watch(['note://a', 'note://b'], async uri =>
        uri === 'note://a' ? (given instanceof Response ? given.clone() : given) : undefined,
      );
      await expect(watching.discover(deadline)).resolves.toMatchObject({ failed: [] });
      expect(asked).toEqual(['+ note://a', '+ note://b']);
      await expect(watching.subscribe('note://a', deadline)).rejects.toMatchObject({
        code: expect.stringMatching(/^upstream_[45]xx$/),
      });
      over();
    },
  );
});

it('[MCP-4] [MCP-12] a resource that the server refuses costs no other its subscription', async () => {
  const { watching, asked, deadline, over } = watch(['note://a', 'note://b'], async uri =>
    uri === 'note://b' ? REFUSAL : undefined,
  );
  await watching.subscribe('note://a', deadline);
  await expect(watching.subscribe('note://b', deadline)).rejects.toMatchObject({
    code: 'upstream_4xx',
  });
  await watching.subscribe('note://a', deadline);
  // In the same session, where the first one still holds.
  expect(asked).toEqual(['+ note://a', '+ note://b']);
  over();
});

it('[MCP-4] a resource is subscribed to again only once its last subscription has ended', async () => {
  const onEnd = Promise.withResolvers<() => void>();
  const { watching, asked, deadline, over } = watch(['note://a'], (_uri, isSubscription) =>
    isSubscription
      ? Promise.resolve(undefined)
      : new Promise(resolve => onEnd.resolve(() => resolve(undefined))),
  );
  await watching.subscribe('note://a', deadline);
  const ending = watching.unsubscribe('note://a');
  const end = await onEnd.promise;
  const again = watching.subscribe('note://a', deadline);
  await new Promise(resolve => setTimeout(resolve, 20));
  expect(asked).toEqual(['+ note://a', '- note://a']);
  end();
  await Promise.all([ending, again]);
  expect(asked).toEqual(['+ note://a', '- note://a', '+ note://a']);
  over();
});
