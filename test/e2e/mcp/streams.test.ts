/**
 * Open streams with real SDK clients: when an upstream of any kind changes a list or a resource, legacy clients are notified on their GET
 * stream and modern ones through `listen`, at once; and a broken stream resumes.
 */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort, startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { makeToken, startGateway, TRUSTED, type Gateway } from '../support/gateway.ts';
import { readEvents } from '../support/event-stream.ts';
import { hear, settleNews } from '../support/sse-reader.ts';
import { openLegacy } from '../support/raw-client.ts';
import { watchStream } from '../support/watched-stream.ts';

const identity = { name: 'streams', version: '1.0.0' };
const adminToken = makeToken();
const upstreams: Upstream[] = [];
const closing: (() => Promise<void>)[] = [];
let data: string;
let port: number;
let gateway: Gateway;

/** Discovery then follows from notifications, not from the interval. */
const env = { PORTICO_DISCOVERY_INTERVAL_MS: '3600000' };
const start = () => startGateway({ data, port, adminToken, env });
const headers = () => ({ requestInit: { headers: { authorization: `Bearer ${adminToken}` } } });
const endpoint = (path = '/mcp') => new URL(`${gateway.origin}${path}`);

interface Heard {
  changes: number;
  updates: string[];
}

/** The client's GET stream opens in the background after `connect`: `isOpen` waits for it. */
async function openClient1(
  path?: string,
): Promise<{ client: Client1; heard: Heard; isOpen: Promise<void> }> {
  const heard: Heard = { changes: 0, updates: [] };
  const client = new Client1(identity);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.changes++);
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void heard.updates.push(params.uri),
  );
  const { fetch, isOpen } = watchStream();
  await client.connect(new Http1(endpoint(path), { ...headers(), fetch }) as Transport);
  closing.push(() => client.close());
  return { client, heard, isOpen };
}

async function openClient2(): Promise<{ client: Client2; heard: Heard }> {
  const heard: Heard = { changes: 0, updates: [] };
  const client = new Client2(identity, { versionNegotiation: { mode: 'auto' } });
  client.setNotificationHandler('notifications/tools/list_changed', () => void heard.changes++);
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.updates.push(params.uri),
  );
  await client.connect(new Http2(endpoint(), headers()));
  closing.push(() => client.close());
  return { client, heard };
}

/** Makes the upstream change, as a client without a stream. */
async function trigger(server: string, tool: string): Promise<void> {
  const { json } = await gateway.api('POST', '/api/v1/tools/call', {
    name: `${server}.${tool}`,
    arguments: {},
  });
  expect(json).not.toMatchObject({ isError: true });
}

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-e2e-'));
  port = await findFreePort();
  const [old, modern, started] = await Promise.all([
    startFixture('conformance-legacy'),
    startFixture('conformance-modern', { era: 'modern' }),
    start(),
  ]);
  gateway = started;
  upstreams.push(old, modern);
  await settleNews({ url: endpoint().href, token: adminToken }, [
    () => gateway.register('old', `${old.origin}/mcp`, TRUSTED),
    () => gateway.register('sse', `${old.origin}/sse`, { transport_type: 'SSE', ...TRUSTED }),
    () => gateway.register('new', `${modern.origin}/mcp`, TRUSTED),
  ]);
});

afterEach(async () => {
  await Promise.allSettled(closing.splice(0).map(close => close()));
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(upstreams.map(upstream => upstream.stop()));
  await rm(data, { recursive: true, force: true });
});

describe.each(['old', 'sse', 'new'])('a change at the upstream %s', server => {
  it('[MCP-4] [MCP-5] [REG-5] is seen by clients of both eras, without waiting for the next discovery', async () => {
    const [first, second] = [await openClient1(), await openClient2()];
    const listening = await second.client.listen({ toolsListChanged: true });
    expect(listening.honoredFilter).toEqual({ toolsListChanged: true });
    await first.isOpen;
    const before = [first.heard.changes, second.heard.changes];
    await trigger(server, 'test_trigger_tool_change');
    await until('both heard', 60_000, async () =>
      first.heard.changes > (before[0] ?? 0) && second.heard.changes > (before[1] ?? 0)
        ? true
        : undefined,
    );
    await listening.close();
  });
});

describe.each(['old', 'sse', 'new'])('a resource of the upstream %s', server => {
  const own = 'test://watched-resource';
  const qualified = `${server}+${own}`;

  it('[MCP-4] [MCP-5] is notified to its subscribers, of both eras, on both endpoints', async () => {
    const many = await openClient1();
    const single = await openClient1(`/mcp/servers/${server}`);
    const stranger = await openClient1();
    const modern = await openClient2();
    await Promise.all([many.isOpen, single.isOpen, stranger.isOpen]);
    await many.client.subscribeResource({ uri: qualified });
    await single.client.subscribeResource({ uri: own });
    const listening = await modern.client.listen({ resourceSubscriptions: [qualified] });
    expect(listening.honoredFilter).toEqual({ resourceSubscriptions: [qualified] });
    await trigger(server, 'test_trigger_resource_update');
    await until('all heard', 60_000, async () =>
      [many, single, modern].every(({ heard }) => heard.updates.length > 0) ? true : undefined,
    );
    await many.client.unsubscribeResource({ uri: qualified });
    await trigger(server, 'test_trigger_resource_update');
    await until('the others heard again', 60_000, async () =>
      single.heard.updates.length > 1 && modern.heard.updates.length > 1 ? true : undefined,
    );
    expect(many.heard.updates).toEqual([qualified]);
    expect(single.heard.updates).toEqual([own, own]);
    expect(modern.heard.updates).toEqual([qualified, qualified]);
    expect(stranger.heard.updates).toEqual([]);
    await listening.close();
  });
});

describe('a broken stream', () => {
  it('[MCP-11] [MCP-10] resumes after its last event, across a restart of the gateway', async () => {
    const target = { url: endpoint().href, token: adminToken };
    const { sessionId = '' } = await openLegacy(target);
    const first = await readEvents(target, sessionId, 0);
    await trigger('new', 'test_trigger_tool_change');
    const second = await readEvents(target, sessionId, 1, first.id);
    expect(second.methods).toEqual(['notifications/tools/list_changed']);
    // Another client receives it; the session's object is notified at the same time, and gets one more second.
    const other = await hear('modern', target);
    await trigger('new', 'test_trigger_prompt_change');
    await until('it is told', 60_000, async () => other.methods().length > 0 || undefined);
    other.close();
    await new Promise(resolve => setTimeout(resolve, 1_000));
    await gateway.stop();
    gateway = await start();
    const third = await readEvents(target, sessionId, 1, second.id);
    expect(third.methods).toEqual(['notifications/prompts/list_changed']);
    await gateway.register('late', `${upstreams[1]?.origin}/mcp`);
    const fourth = await readEvents(target, sessionId, 3, third.id);
    expect(fourth.methods).toEqual(
      ['tools', 'resources', 'prompts'].map(list => `notifications/${list}/list_changed`),
    );
    const again = await readEvents(target, sessionId, 5, first.id);
    const all = [...second.methods, ...third.methods, ...fourth.methods];
    // The server's monitor repeats notifications that it could not complete.
    expect(again.methods.slice(0, all.length)).toEqual(all);
  });
});
