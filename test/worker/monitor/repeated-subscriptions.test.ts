/** An object subscribes again to a resource, at a monitor that lost its connection to the server. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import {
  ResourceSubscriptions,
  type ResourceSubscriptionsPorts,
} from '../../../src/monitor/resource-subscriptions.ts';
import { Subscribers } from '../../../src/monitor/subscribers.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';

const URI = 'note://a';
const SERVER = { id: 's', name: 's' } as Server;

it.each([
  ['does not answer', 'upstream_unreachable', [URI]],
  ['refuses', 'upstream_4xx', []],
] as const)('[MCP-4] a server that %s leaves %j subscribed: %j', async (what, code, expected) => {
  const name = `repeated-${what}`;
  await runInDurableObject(env.SERVER_MONITOR.getByName(name), async (_, { storage }) => {
    let answer = () => {};
    const watch = { subscribe: async () => answer() };
    const subscribers = new Subscribers(storage);
    const subscriptions = new ResourceSubscriptions({
      subscribers,
      watch: { current: undefined, of: async () => watch },
      createDeadline,
    } as unknown as ResourceSubscriptionsPorts);
    const subscribe = () => subscriptions.subscribe(SERVER, 'a', URI);
    expect(await subscribe()).toBeUndefined();
    answer = () => {
      throw new PorticoError(code);
    };
    expect(await subscribe()).toMatchObject({ code });
    expect(await subscribers.uris()).toEqual(expected);
  });
});
