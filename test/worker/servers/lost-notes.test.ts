/** A change whose object cannot be told of it at once: it was made, and the object applies it soon. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  createPortico,
  monitorOf,
  PATIENT,
  registerConnected,
  SERVERS,
  storedCatalogs,
  type ServerView,
} from '../support/portico.ts';

const portico = createPortico();
/** An isolate that can announce changes, but loses the connection to an object after them. */
const losing = createPortico({
  SERVER_MONITOR: {
    getByName: (id: string) => ({
      expect: (serverId: string, inMs?: number) => monitorOf(id).expect(serverId, inMs),
      follow: () => Promise.reject(new Error('lost')),
      wake: () => Promise.reject(new Error('lost')),
    }),
  } as unknown as Env['SERVER_MONITOR'],
  CONNECTOR: {
    getByName: (id: string) => ({
      expectRevocation: () => env.CONNECTOR.getByName(id).expectRevocation(),
      revoke: () => Promise.reject(new Error('lost')),
    }),
  } as unknown as Env['CONNECTOR'],
});

it('[REG-1] [REG-2] [REG-4] is answered as made', async () => {
  serve({ unsaid: new FakeServer() });
  const body = {
    name: 'unsaid',
    transport_type: 'HTTP',
    connection_config: { url: 'https://unsaid.example.com/mcp' },
  };
  const made = await losing.api('POST', SERVERS, body);
  expect(made.status).toBe(201);
  const path = `${SERVERS}/${(await made.json<ServerView>()).id}`;
  expect((await losing.api('PATCH', path, { description: 'x' })).status).toBe(200);
  expect((await losing.api('POST', `${path}/connect`)).status).toBe(200);
  expect((await losing.api('POST', `${path}/classify`)).status).toBe(204);
  const disconnected = await losing.api('POST', `${path}/disconnect`);
  expect([disconnected.status, await disconnected.json()]).toEqual([
    200,
    { status: 'DISCONNECTED', pending_requests: 0 },
  ]);
  expect((await losing.api('DELETE', path)).status).toBe(204);
  expect((await portico.api('GET', path)).status).toBe(404);
});

it('[CLI-1] of a connector is answered as made, with its new token', async () => {
  const made = await losing.api('POST', '/api/v1/connectors', { name: 'unsaid' });
  const { connector } = await made.json<{ connector: { id: string } }>();
  const rotated = await losing.api('POST', `/api/v1/connectors/${connector.id}/rotate`);
  expect([rotated.status, await rotated.json()]).toEqual([
    200,
    expect.objectContaining({ token: expect.any(String) }),
  ]);
  expect((await losing.api('DELETE', `/api/v1/connectors/${connector.id}`)).status).toBe(204);
});

it('[REG-4] of a deleted server leaves no catalog, even if the catalogs cannot be deleted at first', async () => {
  serve({ leaving: new FakeServer() });
  const { id } = await registerConnected(portico, 'leaving');
  expect((await storedCatalogs(id)).catalogs).toHaveLength(1);
  const failing = await runInDurableObject(monitorOf(id), object => {
    const { CATALOG } = (object as unknown as { env: Env }).env;
    return vi.spyOn(CATALOG, 'list').mockRejectedValue(new Error('no catalogs'));
  });
  await portico.api('DELETE', `${SERVERS}/${id}`);
  expect(failing).toHaveBeenCalled();
  failing.mockRestore();
  await vi.waitFor(async () => {
    await runDurableObjectAlarm(monitorOf(id));
    expect(await storedCatalogs(id)).toEqual({ catalogs: [], segments: [] });
  }, PATIENT);
  const left = await runInDurableObject(monitorOf(id), async (_, { storage }) => [
    await storage.getAlarm(),
    [...(await storage.list()).keys()],
  ]);
  expect(left).toEqual([null, []]);
});
