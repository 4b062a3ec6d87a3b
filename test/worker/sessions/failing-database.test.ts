/** What depends on a database that cannot be written or read for a moment, or for long. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { openSession } from '../support/asking-clients.ts';
import { openGet, readStream } from '../support/event-streams.ts';
import { ADMIN, createPortico, inSession, PATIENT } from '../support/portico.ts';

afterEach(() => vi.restoreAllMocks());

/** From now on statements with this text fail. */
function fail(text: string): void {
  const prepare = env.DB.prepare.bind(env.DB);
  vi.spyOn(env.DB, 'prepare').mockImplementation(sql => {
    if (sql.includes(text)) throw new Error('no database');
    return prepare(sql);
  });
}

it('[MCP-4] a stream that its object cannot register ends, so that its client opens it again', async () => {
  const portico = createPortico();
  const session = await openSession(portico);
  fail('INTO open_streams');
  const headers = {
    authorization: `Bearer ${ADMIN}`,
    accept: 'text/event-stream',
    ...inSession(session),
  };
  const stream = readStream(await portico.fetch('/mcp', { headers }));
  await vi.waitFor(() => expect(stream.ended()).toBe(true), PATIENT);
  expect(stream.events).toEqual([]);
  vi.restoreAllMocks();
  await (await openGet(portico, session, { token: ADMIN })).close();
});

it('[ACC-3] open streams are notified of changed access once the database is back', async () => {
  const object = env.ACCESS_CHANGES.getByName('failing');
  await object.changed();
  fail('open_streams');
  expect(await runDurableObjectAlarm(object)).toBe(true);
  const alarmAt = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
  expect(alarmAt).toBeGreaterThan(Date.now());
  vi.restoreAllMocks();
  expect(await runDurableObjectAlarm(object)).toBe(true);
  const after = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
  expect(after).toBeNull();
});

it('[MCP-4] [EDGE-2] an idle client is deleted once the database is back', async () => {
  const object = env.CLIENT_SESSION.getByName('session:failing');
  await object.subscribe('session:failing', { servers: [] } as never, {
    serverId: 's',
    uri: 'note://a',
    as: 'note://a',
  });
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now.call(Date) + 86_400_000);
  fail('FROM open_streams');
  await runDurableObjectAlarm(object).catch(() => {});
  const left = await runInDurableObject(object, async (_, { storage }) => [
    (await storage.getAlarm()) !== null,
    (await storage.list()).size > 0,
  ]);
  expect(left).toEqual([true, true]);
  vi.restoreAllMocks();
  vi.spyOn(Date, 'now').mockImplementation(() => now.call(Date) + 2 * 86_400_000);
  await runDurableObjectAlarm(object);
  const none = await runInDurableObject(object, async (_, { storage }) => [
    await storage.getAlarm(),
    (await storage.list()).size,
  ]);
  expect(none).toEqual([null, 0]);
});
