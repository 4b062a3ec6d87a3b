/** A client subscribes to a resource while its isolate does not know yet that the server was disconnected. */
import { runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import {
  createPortico,
  monitorOf,
  registerConnected,
  SERVERS,
  whenQuiet,
} from '../support/portico.ts';
import { TellingServer } from '../support/telling-server.ts';

it('[REG-3] [MCP-4] asks a disconnected server for nothing', async () => {
  const portico = createPortico();
  const server = new TellingServer('legacy', false);
  fakeUpstreams({ 'https://late.example.com': server.handle });
  const { id } = await registerConnected(portico, 'late');
  await whenQuiet(id);
  await portico.api('POST', `${SERVERS}/${id}/disconnect`);
  await portico.settle();
  const monitor = monitorOf(id);
  expect(await monitor.subscribe('session:late', 'note://a')).toMatchObject({
    code: 'resource_not_found',
  });
  expect(server.asked).toEqual([]);
  const stored = await runInDurableObject(monitor, (_, { storage }) =>
    storage.list({ prefix: 'subscriber/' }),
  );
  expect(stored.size).toBe(0);
});
