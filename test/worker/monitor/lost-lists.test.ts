/** A catalog that KV has lost, of a server that cannot be read for a moment: lists go on without it, and its clients are notified of that. */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it } from 'vitest';
import { openGet } from '../support/event-streams.ts';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  ADMIN,
  createPortico,
  initialize,
  legacy,
  registerConnected,
  TRUSTED,
  whenQuiet,
  type RpcAnswer,
} from '../support/portico.ts';

const portico = createPortico();
afterEach(() => portico.settle());

/** Names of the tools that a fresh isolate lists. */
async function listTools(): Promise<string[]> {
  const response = await createPortico().post(legacy('tools/list'));
  return (await response.json<RpcAnswer>()).result?.tools?.map(({ name }) => name) ?? [];
}

it('[MCP-4] [REG-5] is announced as gone, and again once it is stored, though no request asks for it', async () => {
  const server = new FakeServer();
  serve({ gone: server });
  const { id } = await registerConnected(portico, 'gone', TRUSTED);
  await whenQuiet(id);
  const session = await initialize(portico);
  const get = await openGet(portico, session, { token: ADMIN });
  const { keys } = await env.CATALOG.list({ prefix: `catalog/${id}/` });
  for (const { name } of keys) await env.CATALOG.delete(name);
  server.outage = () => new Response('no', { status: 503 });
  expect(await listTools()).not.toContain('gone.echo');
  await get.until(1);
  server.outage = undefined;
  await get.until(2);
  const changed = 'notifications/tools/list_changed';
  expect(get.methods()).toEqual([changed, changed]);
  const asked = server.of('tools/list').length;
  expect(await listTools()).toContain('gone.echo');
  expect(server.of('tools/list')).toHaveLength(asked);
  await get.close();
});
