/** Changes and subscriptions that come while the monitor is busy with others of their kind. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { createDeadline } from '../../../src/http/deadline.ts';
import { ChangeNotifier } from '../../../src/monitor/change-notifier.ts';
import { ResourceSubscriptions } from '../../../src/monitor/resource-subscriptions.ts';
import { Subscribers } from '../../../src/monitor/subscribers.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import type { HeldWatch } from '../../../src/upstream/discovery/held-watch.ts';
import { monitorOf } from '../support/portico.ts';

/** A notifier that records which lists it notifies of. */
function createNotifier(storage: DurableObjectStorage) {
  const told: string[] = [];
  const notifier = new ChangeNotifier({
    storage,
    db: env.DB,
    objects: env.CLIENT_SESSION,
    settleMs: 0,
    wake: async () => {},
  });
  vi.spyOn(notifier, 'notify').mockImplementation(async (_owners, change) => {
    told.push(...('lists' in change ? change.lists : []));
    return [];
  });
  return { notifier, told };
}

it('[MCP-4] a change that is noted while another is being sent is sent too', async () => {
  const lost = await runInDurableObject(monitorOf(crypto.randomUUID()), async (_, { storage }) => {
    const steps: number[] = [];
    for (let step = 0; step < 30; step += 1) {
      const none = { resources: [], resourceTemplates: [] };
      const before = createNotifier(storage).notifier;
      await before.note({ ...none, tools: ['a'], prompts: ['p'] });
      before.noteNamed();
      await before.notifyChanges('s');
      const { notifier, told } = createNotifier(storage);
      await notifier.note({ ...none, tools: ['b'], prompts: ['p'] });
      notifier.noteNamed();
      const sent = notifier.notifyChanges('s');
      for (let count = 0; count < step; count += 1) await Promise.resolve();
      await notifier.noteGone();
      await sent;
      const after = createNotifier(storage);
      await after.notifier.notifyChanges('s');
      if (![...told, ...after.told].includes('prompts')) steps.push(step);
    }
    return steps;
  });
  expect(lost).toEqual([]);
});

it('[MCP-4] a subscription that comes while the server refuses another is refused too', async () => {
  const { answers, left } = await runInDurableObject(
    monitorOf(crypto.randomUUID()),
    async (_, { storage }) => {
      const subscribers = new Subscribers(storage);
      const server = { name: 'old' } as Server;
      let second: Promise<unknown> | undefined;
      /** A server that refuses after a while, in which another subscriber comes. */
      const subscribe = async () => {
        second ??= subscriptions.subscribe(server, 'two', 'note://a');
        await scheduler.wait(10);
        throw new PorticoError('upstream_4xx', 'no');
      };
      const watch = { current: {}, of: async () => ({ subscribe }) } as unknown as HeldWatch;
      const { notifier } = createNotifier(storage);
      const waitUntil = () => {};
      const ports = { subscribers, watch, notifier, createDeadline, waitUntil };
      const subscriptions = new ResourceSubscriptions(ports);
      const first = await subscriptions.subscribe(server, 'one', 'note://a');
      return { answers: [first, await second], left: await subscribers.uris() };
    },
  );
  expect(answers[0]).toBeDefined();
  expect(answers[1]).toEqual(answers[0]);
  expect(left).toEqual([]);
});
