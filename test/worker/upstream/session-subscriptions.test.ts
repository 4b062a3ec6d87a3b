/** Subscriptions of a client in its session at a server, which are renewed in a new session, or repeated by the client. */
import { expect, it, vi } from 'vitest';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { SessionSubscriptions } from '../../../src/upstream/session/session-subscriptions.ts';

/** Returns subscriptions to three resources, at a server that answers as given; and what it is asked. */
function keepAt(answer: (uri: string, method: string) => object | Promise<object>) {
  const requested: string[] = [];
  const uris = ['a:1', 'a:2', 'a:3'];
  const stored = new Map(
    uris.map(uri => [uri, { serverId: 's', uri, owner: 'o', capabilities: {} }]),
  );
  const channel = {
    async request(method: string, params: ReadonlyMap<string, string>) {
      const uri = JSON.parse(params.get('uri') ?? '""') as string;
      requested.push(uri);
      return answer(uri, method);
    },
  };
  const session = { name: 's', key: 1, channel, hidden: [], forget: async () => {} };
  const subscriptions = new SessionSubscriptions({
    storage: { list: async () => stored, put: async () => {}, delete: async () => true },
    openSession: async () => session,
    onKept: async () => {},
    waitUntil: () => {},
  } as never);
  const kept = async () => (await subscriptions.all()).map(({ uri }) => uri);
  return { subscriptions, requested, uris, kept };
}

const done = { kind: 'response', result: '{}', parsed: {} };
const refusal = { code: -32002, message: 'Gone' };

it('[MCP-4] a resource that the server refuses keeps no other from being renewed', async () => {
  const refused = { kind: 'response', error: JSON.stringify(refusal), parsed: refusal };
  const { subscriptions, requested, uris } = keepAt(uri => (uri === 'a:1' ? refused : done));
  await subscriptions.keep();
  expect(requested).toEqual(uris);
  await subscriptions.keep();
  expect(requested).toEqual([...uris, 'a:1']);
});

it('[MCP-4] a server that cannot be reached is asked once', async () => {
  const { subscriptions, requested } = keepAt(() => {
    throw new PorticoError('upstream_unreachable');
  });
  await subscriptions.keep();
  expect(requested).toEqual(['a:1']);
});

it('[MCP-4] a repeat that the server does not answer leaves the subscription, and a refused one does not', async () => {
  let answer: () => object = () => done;
  const { subscriptions, kept } = keepAt(() => answer());
  const wanted = { serverId: 's', uri: 'a:4', owner: 'o', capabilities: {} };
  expect(await subscriptions.subscribe(wanted)).toBeUndefined();
  subscriptions.forgot('s');
  answer = () => {
    throw new PorticoError('upstream_unreachable');
  };
  expect(await subscriptions.subscribe(wanted)).toMatchObject({ code: 'upstream_unreachable' });
  expect(await kept()).toContain('a:4');
  answer = () => ({ kind: 'response', error: JSON.stringify(refusal), parsed: refusal });
  expect(await subscriptions.subscribe(wanted)).toMatchObject({ code: 'upstream_4xx' });
  expect(await kept()).not.toContain('a:4');
});

it('[MCP-4] [MCP-12] nobody waits for a server to end a subscription, which it is not asked for again before that', async () => {
  const ended = Promise.withResolvers<void>();
  const { subscriptions, requested } = keepAt((_uri, method) =>
    method === 'resources/unsubscribe' ? ended.promise.then(() => done) : done,
  );
  const wanted = { serverId: 's', uri: 'a:4', owner: 'o', capabilities: {} };
  await subscriptions.subscribe(wanted);
  await subscriptions.unsubscribe(wanted);
  // Repeated, as clients may.
  await subscriptions.unsubscribe(wanted);
  const again = subscriptions.subscribe(wanted);
  await vi.waitFor(() => expect(requested).toHaveLength(2));
  await scheduler.wait(20);
  expect(requested).toHaveLength(2);
  ended.resolve();
  expect(await again).toBeUndefined();
  expect(requested).toHaveLength(3);
});

it('[MCP-4] a subscription that is left while the server is asked for it ends, also if it is not made', async () => {
  const asked = Promise.withResolvers<object>();
  const { subscriptions, requested } = keepAt((_uri, method) =>
    method === 'resources/subscribe' ? asked.promise : done,
  );
  const wanted = { serverId: 's', uri: 'a:4', owner: 'o', capabilities: {} };
  const making = subscriptions.subscribe(wanted);
  await vi.waitFor(() => expect(requested).toHaveLength(1));
  await subscriptions.unsubscribe(wanted);
  asked.reject(new PorticoError('upstream_timeout'));
  expect(await making).toMatchObject({ code: 'upstream_timeout' });
  expect(requested).toEqual(['a:4', 'a:4']);
});
