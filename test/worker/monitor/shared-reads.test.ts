/** A monitor's reads of its server, for very many requests at once. */
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { MonitoredServers } from '../../../src/servers/accounts/reached-servers.ts';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { createPortico, registerConnected } from '../support/portico.ts';

it('[SEC-9] [MCP-4] share one, and none gets what was read before it came', async () => {
  serve({ one: new FakeServer({ tools: [toolOf('echo')] }) });
  const { id } = await registerConnected(createPortico(), 'one');
  const servers = new MonitoredServers(env.DB);
  const prepare = vi.spyOn(env.DB, 'prepare');
  const first = servers.find(id);
  const others = await Promise.all(Array.from({ length: 1_000 }, () => servers.find(id)));
  expect(new Set(others.map(server => server?.name))).toEqual(new Set(['one']));
  expect((await first)?.name).toBe('one');
  expect(prepare.mock.calls.length).toBeLessThan(5);
  await Promise.resolve();
  const reading = servers.find(id);
  await env.DB.prepare('UPDATE servers SET description = ? WHERE id = ?').bind('new', id).run();
  expect((await servers.find(id))?.description).toBe('new');
  await reading;
  expect(await servers.find('none')).toBeUndefined();
});
