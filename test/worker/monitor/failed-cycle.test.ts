/** A check cycle that fails, since the database cannot be read for a moment. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { FakeServer, serve } from '../support/fake-server.ts';
import {
  createPortico,
  monitorOf,
  registerConnected,
  TRUSTED,
  whenQuiet,
} from '../support/portico.ts';

const portico = createPortico();

it('[REG-4] [MCP-12] is made up for soon, though the platform repeats the alarm meanwhile', async () => {
  const server = new FakeServer();
  serve({ resumed: server });
  const { id } = await registerConnected(portico, 'resumed', TRUSTED);
  await whenQuiet(id);
  const next = await runInDurableObject(monitorOf(id), async (object, { storage }) => {
    const { DB } = (object as unknown as { env: Env }).env;
    const alarm = async () => {
      // While an alarm runs, none is set.
      await storage.deleteAlarm();
      await object.alarm?.();
    };
    const failing = vi.spyOn(DB, 'prepare').mockImplementation(() => {
      throw new Error('no database');
    });
    await alarm().catch(() => {});
    failing.mockRestore();
    if ((await storage.getAlarm()) === null) await object.alarm?.();
    return storage.getAlarm();
  });
  expect(next).toBeGreaterThan(Date.now());
  expect(next).toBeLessThan(Date.now() + 16_000);
  const before = server.posts.length;
  expect(await runDurableObjectAlarm(monitorOf(id))).toBe(true);
  expect(server.posts.slice(before).map(({ method }) => method)).toContain('tools/list');
});
