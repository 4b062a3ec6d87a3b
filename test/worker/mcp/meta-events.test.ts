/**
 * Streams on an endpoint with the three meta tools: its tool list never changes, so no changes are announced; other lists are as elsewhere.
 */
import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  ADMIN,
  PATIENT,
  TRUSTED,
  createPortico,
  initialize,
  monitorOf,
  registerConnected,
  whenQuiet,
} from '../support/portico.ts';
import { openGet, openListen, type OpenStream } from '../support/event-streams.ts';
import { TellingServer } from '../support/telling-server.ts';

const PATH = '/mcp?tools=search';
const portico = createPortico();
const server = new TellingServer('modern');
const open: OpenStream[] = [];
const keep = (stream: OpenStream) => {
  open.push(stream);
  return stream;
};
const serveIt = () => fakeUpstreams({ 'https://teller.example.com': server.handle });
const TOOLS = 'notifications/tools/list_changed';
const PROMPTS = 'notifications/prompts/list_changed';
let id = '';

beforeAll(async () => {
  serveIt();
  ({ id } = await registerConnected(portico, 'teller', TRUSTED));
});

/** A fake's stream keeps no monitor in memory, which is lost after ten seconds: this one restarts, and listens. */
async function renew(): Promise<void> {
  await evictDurableObject(monitorOf(id)).catch(() => {});
  server.streams.length = 0;
  await runDurableObjectAlarm(monitorOf(id));
  await vi.waitFor(() => expect(server.streams).toHaveLength(1), PATIENT);
  await whenQuiet(id);
}

beforeEach(async () => {
  serveIt();
  await renew();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map(stream => stream.close()));
  await portico.settle();
});

/** Opens a stream that gets everything. */
const openAll = async () =>
  keep(await openGet(portico, await initialize(portico), { token: ADMIN }));

/**
 * Changes tools, and once a stream that gets everything has been notified, prompts: a stream notified of prompts has got all there is of
 * tools.
 */
async function changeBoth(name: string, all: OpenStream) {
  server.lists.tools.push({ name, inputSchema: { type: 'object' } });
  await server.tell(id, TOOLS);
  await all.until(1);
  server.lists.prompts.push({ name });
  await server.tell(id, PROMPTS);
}

it('[FIND-2] [MCP-4] notifies a session of no tool changes, unlike one with the full list', async () => {
  const three = keep(
    await openGet(portico, await initialize(portico, {}, PATH), { token: ADMIN, path: PATH }),
  );
  const all = await openAll();
  await changeBoth('for-sessions', all);
  await Promise.all([three.until(1), all.until(2)]);
  expect(three.methods()).toEqual([PROMPTS]);
  expect(all.methods()).toEqual([TOOLS, PROMPTS]);
});

it('[FIND-2] [MCP-4] does not grant a listener tool changes', async () => {
  const wanted = { toolsListChanged: true, promptsListChanged: true };
  const listen = keep(await openListen(portico, wanted, {}, { path: PATH }));
  expect(listen.messages()[0]?.params?.['notifications']).toEqual({ promptsListChanged: true });
  await changeBoth('for-listeners', await openAll());
  await listen.until(2);
  expect(listen.methods()).toEqual(['notifications/subscriptions/acknowledged', PROMPTS]);
});

it('[FIND-2] [MCP-4] notifies a session once that a toolset now shows the three meta tools, and then no more', async () => {
  const made = await portico.api('POST', '/api/v1/toolsets', { name: 'turn', include: ['teller'] });
  const { id: toolset } = await made.json<{ id: string }>();
  const path = '/mcp/toolsets/turn';
  const session = await initialize(portico, {}, path);
  const stream = keep(await openGet(portico, session, { token: ADMIN, path }));
  const edit = await portico.api('PATCH', `/api/v1/toolsets/${toolset}`, { tools: 'search' });
  expect([edit.status, (await edit.json<{ tools: string }>()).tools]).toEqual([200, 'search']);
  await stream.until(1);
  expect(stream.methods()).toEqual([TOOLS]);
  await changeBoth('after-the-turn', await openAll());
  await stream.until(2);
  expect(stream.methods()).toEqual([TOOLS, PROMPTS]);
  const cleared = await portico.api('PATCH', `/api/v1/toolsets/${toolset}`, { tools: null });
  expect(await cleared.json()).not.toHaveProperty('tools');
});
