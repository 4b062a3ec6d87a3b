/** Streams on an endpoint of three tools: its list never changes, so nothing is told of it; other lists are as elsewhere. */
import { afterEach, beforeAll, expect, it } from 'vitest';
import { fakeUpstreams } from './fake-upstreams.ts';
import { ADMIN, createPortico, initialize, registerConnected, TRUSTED } from './portico.ts';
import { openGet, openListen, type OpenStream } from './streams.ts';
import { TellingServer } from './telling-server.ts';

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

afterEach(async () => {
  await Promise.all(open.splice(0).map(stream => stream.close()));
  await portico.settle();
});

/** Tools change and then prompts: whoever hears of the second has heard all that there is of the first. */
async function changeBoth(name: string) {
  server.lists.tools.push({ name, inputSchema: { type: 'object' } });
  await server.tell(id, TOOLS);
  await new Promise(resolve => setTimeout(resolve, 600));
  server.lists.prompts.push({ name });
  await server.tell(id, PROMPTS);
}

it('[FIND-2] [MCP-4] tells a session nothing of tools, beside one that hears of them', async () => {
  serveIt();
  const three = keep(
    await openGet(portico, await initialize(portico, {}, PATH), { token: ADMIN, path: PATH }),
  );
  const all = keep(await openGet(portico, await initialize(portico), { token: ADMIN }));
  await changeBoth('for-sessions');
  await Promise.all([three.until(1), all.until(2)]);
  expect(three.methods()).toEqual([PROMPTS]);
  expect(all.methods()).toEqual([TOOLS, PROMPTS]);
});

it('[FIND-2] [MCP-4] does not agree to tell a listener of tools', async () => {
  serveIt();
  const wanted = { toolsListChanged: true, promptsListChanged: true };
  const listen = keep(await openListen(portico, wanted, {}, { path: PATH }));
  expect(listen.messages()[0]?.params?.['notifications']).toEqual({ promptsListChanged: true });
  await changeBoth('for-listeners');
  await listen.until(2);
  expect(listen.methods()).toEqual(['notifications/subscriptions/acknowledged', PROMPTS]);
});

it('[FIND-2] [MCP-4] tells a session once that a toolset shows three tools now, then no more', async () => {
  serveIt();
  const made = await portico.api('POST', '/api/v1/toolsets', { name: 'turn', include: ['teller'] });
  const { id: toolset } = await made.json<{ id: string }>();
  const path = '/mcp/toolsets/turn';
  const session = await initialize(portico, {}, path);
  const stream = keep(await openGet(portico, session, { token: ADMIN, path }));
  const edit = await portico.api('PATCH', `/api/v1/toolsets/${toolset}`, { tools: 'search' });
  expect([edit.status, (await edit.json<{ tools: string }>()).tools]).toEqual([200, 'search']);
  await stream.until(1);
  expect(stream.methods()).toEqual([TOOLS]);
  server.lists.tools.push({ name: 'after-the-turn', inputSchema: { type: 'object' } });
  await server.tell(id, TOOLS);
  await new Promise(resolve => setTimeout(resolve, 900));
  expect(stream.methods()).toEqual([TOOLS]);
  const cleared = await portico.api('PATCH', `/api/v1/toolsets/${toolset}`, { tools: null });
  expect(await cleared.json()).not.toHaveProperty('tools');
});
