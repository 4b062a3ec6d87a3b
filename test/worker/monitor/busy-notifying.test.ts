/** A monitor that cannot notify clients of a change for a while: it serves what waits for it, and notifies them later. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { openGet } from '../support/event-streams.ts';
import { FakeServer, resultOf, serve, toolOf } from '../support/fake-server.ts';
import {
  ADMIN,
  createPortico,
  initialize,
  inSession,
  legacy,
  monitorOf,
  PATIENT,
  registerConnected,
  SERVERS,
  TRUSTED,
  whenQuiet,
  type RpcAnswer,
} from '../support/portico.ts';

const portico = createPortico();
afterEach(() => portico.settle());

/** Lets a monitor read whom to notify only after this. @returns how often it wanted to, and a function that ends it */
async function delayOwners(id: string, before: () => Promise<unknown>) {
  let times = 0;
  const spy = await runInDurableObject(monitorOf(id), object => {
    const { DB } = (object as unknown as { env: Env }).env;
    const prepare = DB.prepare.bind(DB);
    return vi.spyOn(DB, 'prepare').mockImplementation(sql => {
      const statement = prepare(sql);
      if (!sql.startsWith('SELECT owner FROM open_streams')) return statement;
      const all = statement.all.bind(statement);
      const value = () => {
        times += 1;
        return before().then(() => all());
      };
      return Object.defineProperty(statement, 'all', { value });
    });
  });
  return { times: () => times, end: () => spy.mockRestore() };
}

it('[REG-5] [MCP-12] reads a lost catalog again meanwhile', async () => {
  const server = new FakeServer();
  serve({ telling: server });
  const { id } = await registerConnected(portico, 'telling', TRUSTED);
  await whenQuiet(id);
  const free = Promise.withResolvers<void>();
  const owners = await delayOwners(id, () => free.promise);
  server.tools = [toolOf('echo'), toolOf('other')];
  await portico.api('POST', `${SERVERS}/${id}/connect`);
  await vi.waitFor(() => expect(owners.times()).toBe(1), PATIENT);
  const { keys } = await env.CATALOG.list({ prefix: `catalog/${id}/` });
  for (const { name } of keys) await env.CATALOG.delete(name);
  const response = await createPortico().post(legacy('tools/list'));
  const { result } = await response.json<RpcAnswer>();
  owners.end();
  free.resolve();
  expect(result?.tools?.map(({ name }) => name)).toContain('telling.other');
  await whenQuiet(id);
});

it('[MCP-4] [REG-3] notifies clients later that a server was disconnected', async () => {
  serve({ leaving: new FakeServer() });
  const { id } = await registerConnected(portico, 'leaving', TRUSTED);
  await whenQuiet(id);
  const get = await openGet(portico, await initialize(portico), { token: ADMIN });
  const owners = await delayOwners(id, () => Promise.reject(new Error('no database')));
  await portico.api('POST', `${SERVERS}/${id}/disconnect`);
  await vi.waitFor(() => expect(owners.times()).toBe(1), PATIENT);
  owners.end();
  await vi.waitFor(async () => {
    const alarm = await runInDurableObject(monitorOf(id), (_, { storage }) => storage.getAlarm());
    expect(alarm).not.toBeNull();
  }, PATIENT);
  expect(get.methods()).toEqual([]);
  await runDurableObjectAlarm(monitorOf(id));
  await get.until(1);
  expect(get.methods()).toEqual(['notifications/tools/list_changed']);
  await get.close();
});

it('[MCP-4] [REG-5] notifies clients of new tools only once they can list them', async () => {
  const server = new FakeServer();
  serve({ growing: server });
  const { id } = await registerConnected(portico, 'growing', TRUSTED);
  await whenQuiet(id);
  const session = await initialize(portico);
  const get = await openGet(portico, session, { token: ADMIN });
  server.tools = [toolOf('echo'), toolOf('other')];
  let failures = 0;
  const failing = await runInDurableObject(monitorOf(id), object => {
    const { DB } = (object as unknown as { env: Env }).env;
    const prepare = DB.prepare.bind(DB);
    return vi.spyOn(DB, 'prepare').mockImplementation(sql => {
      if (!/^UPDATE servers SET .*catalog_hash = /su.test(sql)) return prepare(sql);
      failures += 1;
      throw new Error('no database');
    });
  });
  await portico.api('POST', `${SERVERS}/${id}/connect`);
  await vi.waitFor(() => expect(failures).toBe(1), PATIENT);
  failing.mockRestore();
  // Longer than clients wait for a notification.
  server.answers.set('tools/list', async post => {
    await scheduler.wait(1_000);
    return resultOf(post, { tools: server.tools });
  });
  const cycle = runDurableObjectAlarm(monitorOf(id));
  await get.until(1);
  const answer = await portico.post(legacy('tools/list'), { headers: inSession(session) });
  const { result } = await answer.json<RpcAnswer>();
  expect(result?.tools?.map(({ name }) => name)).toContain('growing.other');
  await cycle;
  await whenQuiet(id);
  await get.close();
});
