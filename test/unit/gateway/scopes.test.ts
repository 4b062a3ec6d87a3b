/** What a token's scopes allow, on every path to a server, and how much each path shows. */
import { expect, it } from 'vitest';
import type { CallContext } from '../../../src/upstream/protocol/call.ts';
import { DOT_NAMING, type VisibleServers } from '../../../src/gateway/viewer.ts';
import { createCaller } from '../access/callers.ts';
import { parseCatalog } from '../../../src/servers/catalog/catalog.ts';
import { createFakeGateway, createRecord } from './fakes.ts';

const visible = { servers: [createRecord('alpha'), createRecord('beta')] };
const context: CallContext = {
  signal: new AbortController().signal,
  owner: () => 'o',
  waitUntil: () => {},
  capabilities: {},
  questions: 'ask',
};
const namesOf = ({ servers }: VisibleServers) => servers.map(({ name }) => name).join();

/** Sends every kind of request to a visible server; returns what was allowed and what was refused. */
async function tryAll(caller: ReturnType<typeof createCaller>) {
  const through: string[] = [];
  const refused: string[] = [];
  const searched: string[] = [];
  const gateway = createFakeGateway({
    findTools(within) {
      searched.push(namesOf(within));
      return Promise.resolve({ tools: [], serversSearched: 0, toolsSearched: 0 });
    },
  });
  const viewer = { caller, visible, naming: DOT_NAMING };
  const call = (name: string) => {
    const reference = { kind: 'tool', name } as const;
    return gateway.request(viewer, { method: 'tools/call', reference, params: new Map() }, context);
  };
  const { signal } = context;
  const ways: Record<string, () => Promise<unknown>> = {
    visible: async () => namesOf(await gateway.visible(viewer)),
    list: async () => (await gateway.list(viewer, 'tools')).items.map(({ name }) => name).join(),
    find: async () => (await gateway.find(viewer, 'beta.echo')).name,
    search: async () => {
      await gateway.search(viewer, { query: 'x', limit: 1 });
      return searched.join();
    },
    subscription: () => gateway.subscription(viewer, 'beta+note://a'),
    advertise: async () => Object.keys((await gateway.advertise(viewer)).capabilities).join(),
    subscribeTasks: async () =>
      (await gateway.subscribeTasks(viewer, [], () => {}, signal)).agreed.join(),
    request: async () => (await call('beta.echo')).server.name,
  };
  for (const [way, tryIt] of Object.entries(ways)) {
    await tryIt().then(
      got => through.push(`${way} ${String(got)}`),
      (error: { code: string }) => refused.push(`${way} ${error.code}`),
    );
  }
  const hidden = await call('alpha.echo').catch((error: { code: string }) => error.code);
  return { through, refused, hidden };
}

it('[ACC-2] [ACC-9] reading and calling are separate', async () => {
  const servers = ['id-beta'];
  const reader = await tryAll(createCaller({ servers }, ['tools:read']));
  // The server has no resource subscriptions; a caller who may read learns that.
  expect(reader.refused).toEqual(['subscription method_not_found', 'request forbidden']);
  expect(reader.through).toEqual([
    'visible beta',
    'list beta.echo',
    'find beta.echo',
    'search beta',
    'advertise tools',
    'subscribeTasks ',
  ]);
  expect(reader.hidden).toBe('forbidden');
  const writer = await tryAll(createCaller({ servers }, ['tools:call']));
  const reads = ['list', 'find', 'search', 'subscription', 'subscribeTasks'];
  expect(writer.refused).toEqual(reads.map(way => `${way} forbidden`));
  expect(writer.through).toEqual(['visible beta', 'advertise tools', 'request beta']);
  expect(writer.hidden).toBe('tool_not_found');
});

it('[ACC-2] [SEC-8] the words of servers are for callers who may list', async () => {
  const content = { capabilities: { tools: {} }, instructions: 'Ask first.' };
  const catalogOf = () => parseCatalog('hash', JSON.stringify(content));
  const gateway = createFakeGateway({ catalogOf });
  const said = (...scopes: Parameters<typeof createCaller>[1] & object) =>
    gateway
      .advertise({ caller: createCaller({}, scopes), visible, naming: DOT_NAMING })
      .then(({ instructions }) => instructions);
  expect(await said('tools:read')).toContain('Ask first.');
  expect(await said('admin')).toContain('Ask first.');
  for (const scopes of [[], ['tools:call'], ['servers:read']] as const)
    expect(await said(...scopes)).toBeUndefined();
});
