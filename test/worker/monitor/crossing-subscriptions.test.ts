/** A subscription to a resource that ends while the server has not accepted it yet: at a monitor, and in a client's own session. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { ResourceSubscriptions } from '../../../src/monitor/resource-subscriptions.ts';
import type { ResourceSubscriptionsPorts } from '../../../src/monitor/resource-subscriptions.ts';
import { Subscribers } from '../../../src/monitor/subscribers.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { SessionSubscriptions } from '../../../src/upstream/session/session-subscriptions.ts';

const URI = 'note://a';
const SERVER = { id: 's', name: 's' } as Server;

/** A server that accepts a subscription only when `accept` is called. */
function createServer() {
  const asked: string[] = [];
  let accept = () => {};
  const accepted = new Promise<void>(resolve => (accept = resolve));
  const take = async (sign: '+' | '-') => {
    asked.push(sign);
    if (sign === '+') await accepted;
  };
  return { asked, take, accept: () => accept() };
}

const inStorage = <T>(name: string, work: (storage: DurableObjectStorage) => Promise<T>) =>
  runInDurableObject(env.SERVER_MONITOR.getByName(name), (_, { storage }) => work(storage));

it('[MCP-4] is ended at the server by the monitor, once the server has accepted it', async () => {
  await inStorage('crossing-monitor', async storage => {
    const { asked, take, accept } = createServer();
    const subscribed = new Set<string>();
    const watch = {
      subscribe: async (uri: string) => {
        await take('+');
        subscribed.add(uri);
      },
      unsubscribe: async (uri: string) => {
        if (subscribed.delete(uri)) await take('-');
      },
    };
    const held = { current: watch, of: () => Promise.resolve(watch) };
    const background: Promise<unknown>[] = [];
    const subscriptions = new ResourceSubscriptions({
      subscribers: new Subscribers(storage),
      watch: held as unknown as ResourceSubscriptionsPorts['watch'],
      notifier: {} as unknown as ResourceSubscriptionsPorts['notifier'],
      createDeadline,
      waitUntil: work => void background.push(work),
    });
    const first = subscriptions.subscribe(SERVER, 'a', URI);
    await vi.waitFor(() => expect(asked).toEqual(['+']));
    const second = subscriptions.subscribe(SERVER, 'b', URI);
    const ended = [subscriptions.unsubscribe('a', URI), subscriptions.unsubscribe('b', URI)];
    accept();
    expect(await Promise.all([first, second])).toEqual([undefined, undefined]);
    await Promise.all(ended);
    await Promise.all(background);
    expect(asked).toEqual(['+', '-']);
    expect(await new Subscribers(storage).uris()).toEqual([]);
  });
});

it('[MCP-4] is ended at the server by the client that has a session there, once the server has accepted it', async () => {
  await inStorage('crossing-session', async storage => {
    const { asked, take, accept } = createServer();
    const channel = {
      request: async (method: string) => {
        await take(method === 'resources/subscribe' ? '+' : '-');
        return { result: '{}', parsed: {} };
      },
    };
    const session = { name: 's', key: 1, channel, hidden: [], forget: () => Promise.resolve() };
    const subscriptions = new SessionSubscriptions({
      storage,
      openSession: () => Promise.resolve(session as never),
      findSession: () => Promise.resolve(undefined),
      onKept: () => Promise.resolve(),
      waitUntil: () => {},
    });
    const wanted = { serverId: 's', uri: URI, owner: 'session:a', capabilities: {} };
    const subscribing = subscriptions.subscribe(wanted);
    await vi.waitFor(() => expect(asked).toEqual(['+']));
    await subscriptions.unsubscribe(wanted);
    expect(await subscriptions.all()).toEqual([]);
    accept();
    expect(await subscribing).toBeUndefined();
    expect(asked).toEqual(['+', '-']);
  });
});
