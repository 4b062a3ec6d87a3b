/** Catalogs that KV has lost: read again for the requests that need them, at little cost for the server and for the others. */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { FakeServer, serve } from '../support/fake-server.ts';
import { createPortico, legacy, registerConnected, type RpcAnswer } from '../support/portico.ts';

const portico = createPortico();

/** Names of the tools that a fresh isolate lists. */
async function listTools(): Promise<string[]> {
  const response = await createPortico().post(legacy('tools/list'));
  return (await response.json<RpcAnswer>()).result?.tools?.map(({ name }) => name) ?? [];
}

async function lose(serverId: string): Promise<void> {
  const { keys } = await env.CATALOG.list({ prefix: `catalog/${serverId}/` });
  for (const { name } of keys) await env.CATALOG.delete(name);
}

it('[REG-5] [SEC-4] are read once for all requests that wait', async () => {
  const server = new FakeServer({ sessionful: false });
  serve({ wanted: server });
  const { id } = await registerConnected(portico, 'wanted');
  await lose(id);
  const before = server.of('tools/list').length;
  const lists = await Promise.all(Array.from({ length: 8 }, listTools));
  expect(lists.map(names => names.includes('wanted.echo'))).toEqual(lists.map(() => true));
  expect(server.of('tools/list').length - before).toBeLessThanOrEqual(2);
});

it('[MCP-12] of a hung server do not hold up lists of others', async () => {
  const server = new FakeServer();
  serve({ hung: server, quick: new FakeServer() });
  const { id } = await registerConnected(portico, 'hung');
  await registerConnected(portico, 'quick');
  await lose(id);
  server.outage = () => new Promise(() => {});
  const startedAt = Date.now();
  const names = await listTools();
  expect(names).toContain('quick.echo');
  expect(names).not.toContain('hung.echo');
  expect(Date.now() - startedAt).toBeLessThan(10_000);
});
