/** Notifications of servers outside of calls, in each cell: changed lists and updated resources, on the client's open stream. */
import { expect } from 'vitest';
import { until } from '../../../fixtures/start-fixture.ts';
import type { Json } from './clients.ts';
import { eachCell } from './stand.ts';
import type { Place } from './stand.ts';

const SOON_MS = 60_000;
const WATCHED = 'test://watched-resource';
const LISTS = ['tools', 'prompts', 'resources'] as const;

/** Returns the part of a list that changes with each change: a description, or a URI. */
async function stateOf(cell: Place, list: (typeof LISTS)[number]): Promise<string> {
  const items = (await cell.list<Json>(`${list}/list`, list)).flat();
  const own = items.filter(item => JSON.stringify(item).includes('hanging'));
  return own
    .filter(({ name, uri }) => /^[\w-]+/.exec(String(uri ?? name))?.[0] === cell.upstream)
    .map(({ uri, description }) => String(uri ?? description))
    .join();
}

eachCell(
  '[MCP-4] [MCP-5] [REG-5] {notifications/tools/list_changed: * > *} {notifications/prompts/list_changed: * > *} {notifications/resources/list_changed: * > *} arrive when the list changed',
  async cell => {
    const stop = await cell.client.listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
    });
    for (const list of LISTS) {
      const before = await stateOf(cell, list);
      expect(before).not.toBe('');
      cell.client.heard.length = 0;
      await cell.trigger(`test_trigger_${list.slice(0, -1)}_change`);
      await until(`${list} changed, and the client was told`, SOON_MS, async () =>
        cell.client.heard.some(({ method }) => method === `notifications/${list}/list_changed`) &&
        (await stateOf(cell, list)) !== before
          ? true
          : undefined,
      );
    }
    await stop();
  },
);

const updatesOf = ({ client }: Place) =>
  client.heard
    .filter(({ method }) => method === 'notifications/resources/updated')
    .map(({ params }) => params?.['uri']);

eachCell(
  '[MCP-4] [MCP-5] {resources/subscribe: legacy, sse > *} {notifications/resources/updated: legacy, sse > *} names the URI',
  async cell => {
    const uri = cell.uriOf(WATCHED);
    expect(await cell.client.request('resources/subscribe', { uri })).toEqual({});
    await cell.trigger('test_trigger_resource_update');
    await until('the client was told', SOON_MS, async () =>
      updatesOf(cell).length > 0 ? true : undefined,
    );
    expect(updatesOf(cell)).toEqual([uri]);
    expect(await cell.client.request('resources/unsubscribe', { uri })).toEqual({});
  },
);

eachCell(
  '[MCP-4] [MCP-5] {subscriptions/listen: modern > *} {notifications/resources/updated: modern > *} names the URI',
  async cell => {
    const uri = cell.uriOf(WATCHED);
    const stop = await cell.client.listen({ resourceSubscriptions: [uri] });
    await cell.trigger('test_trigger_resource_update');
    await until('the client was told', SOON_MS, async () =>
      updatesOf(cell).length > 0 ? true : undefined,
    );
    expect(updatesOf(cell)).toEqual([uri]);
    const [acknowledged] = cell.client.heard;
    expect(acknowledged).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { resourceSubscriptions: [uri] } },
    });
    await stop();
  },
);
