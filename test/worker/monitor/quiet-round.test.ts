/**
 * The cost of a server without news: one check cycle of its monitor asks it and writes when the next cycle is due, and nothing else. No
 * later change may add an operation unnoticed. The monitor has slept before each cycle, as between two.
 */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeServer, serve, toolOf } from '../support/fake-server.ts';
import { fakeUpstreams } from '../support/fake-upstreams.ts';
import { NO_REPORT, readShown } from '../support/health.ts';
import {
  createPortico,
  monitorOf,
  registerConnected,
  TRUSTED,
  whenQuiet,
  whenSorted,
} from '../support/portico.ts';
import { makeQuiet, sleptRound, whileAwake } from '../support/quiet-rounds.ts';

const portico = createPortico();
afterEach(() => portico.settle());

const HOUR_MS = 3_600_000;
/** The cost of a cycle: the row of its alarm, and a read of the server's records in the database. */
const COST = { objectRows: 1, d1Written: 0, d1Read: 7, kv: 0 };

/** A server with some check cycles behind it. */
async function registerQuiet(name: string, server: FakeServer, more: object = {}): Promise<string> {
  serve({ [name]: server });
  const { id } = await registerConnected(portico, name, { ...TRUSTED, ...more });
  await whenSorted(id);
  await whenQuiet(id);
  await sleptRound(id);
  return id;
}

describe('a quiet check cycle', () => {
  it.each([
    ['legacy', false],
    ['legacy', true],
    ['modern', false],
    ['modern', true],
  ] as const)(
    '[EDGE-2] [REG-4] of a %s server writes its alarm only (announces changes: %s)',
    async (era, listChanged) => {
      const server = new FakeServer({ era, listChanged });
      const id = await registerQuiet(`still-${era}-${listChanged}`, server);
      await makeQuiet(id, HOUR_MS);
      await sleptRound(id);
      const before = server.posts.length;
      const { inMs, ...cost } = await sleptRound(id);
      // For a server that announces changes, the cycle reads whether anybody listens.
      expect(cost).toEqual({ ...COST, d1Read: listChanged ? 8 : 7 });
      // The server is checked, and asked for its lists; no session is opened for that.
      const methods = server.posts.slice(before).map(({ method }) => method);
      expect(methods[0]).toBe(era === 'modern' ? 'server/discover' : 'ping');
      expect(methods).toContain('tools/list');
      expect(methods).not.toContain('initialize');
      expect(methods).not.toContain('subscriptions/listen');
      expect(inMs).toBeGreaterThan(269_000);
      expect(inMs).toBeLessThan(331_000);
    },
  );

  it('[EDGE-2] [AG-US5-AC2] of a server with a health URL costs the same', async () => {
    fakeUpstreams({
      'https://addressed.example.com': new FakeServer().handle,
      'https://addressed-health.example.com': () => new Response('fine'),
    });
    const { id } = await registerConnected(portico, 'addressed', {
      health_check_url: 'https://addressed-health.example.com/up',
    });
    await whenSorted(id);
    await whenQuiet(id);
    await sleptRound(id);
    const { inMs: _inMs, ...cost } = await sleptRound(id);
    expect(cost).toEqual(COST);
  });

  it('[REG-4] stores an unchanged result again after a quarter of an hour', async () => {
    const id = await registerQuiet('shown-again', new FakeServer());
    const { health: before } = await readShown(portico, id);
    await sleptRound(id);
    expect((await readShown(portico, id)).health).toEqual(before);
    await runInDurableObject(monitorOf(id), async (_, { storage }) => {
      const health = await storage.get<{ checkedAt: number }>('health');
      await storage.put('health', { ...health, checkedAt: Date.now() - 900_001 });
    });
    await env.DB.prepare('UPDATE server_health SET checked_at = checked_at - 900001').run();
    expect(await sleptRound(id)).toMatchObject({ d1Written: 1, kv: 0 });
    const { health: after } = await readShown(portico, id);
    expect(Date.parse(after.checked_at ?? '')).toBeGreaterThan(Date.parse(before.checked_at ?? ''));
  });
});

describe('a quiet phase', () => {
  it('[REG-4] ends with a failed call, and with a failed check', async () => {
    const server = new FakeServer();
    const id = await registerQuiet('stirred', server);
    await makeQuiet(id, HOUR_MS);
    expect((await sleptRound(id)).inMs).toBeGreaterThan(200_000);
    await whileAwake(id, monitor =>
      monitor.report({ ...NO_REPORT, calls: 1, errors: 1, failuresInRow: 1 }),
    );
    const alarm = await runInDurableObject(monitorOf(id), (_, { storage }) => storage.getAlarm());
    expect((alarm ?? Infinity) - Date.now()).toBeLessThanOrEqual(30_000);
    await makeQuiet(id, HOUR_MS);
    server.outage = () => new Response('no', { status: 503 });
    expect((await sleptRound(id)).inMs).toBeLessThanOrEqual(1_000);
    expect((await sleptRound(id)).inMs).toBeLessThanOrEqual(2_000);
    await sleptRound(id);
    expect((await readShown(portico, id)).status).toBe('ERROR');
    server.outage = undefined;
    expect((await sleptRound(id)).inMs).toBeLessThanOrEqual(33_000);
    expect((await readShown(portico, id)).status).toBe('CONNECTED');
  });

  it('[REG-4] [AG-US5-AC1] does not stretch a configured interval', async () => {
    const id = await registerQuiet('exact', new FakeServer(), {
      health_check: { interval_seconds: 30 },
    });
    await makeQuiet(id, 100 * HOUR_MS);
    expect((await sleptRound(id)).inMs).toBeLessThanOrEqual(33_000);
  });

  it('[REG-5] ends with another catalog, and lists are read each minute while somebody listens', async () => {
    const server = new FakeServer({ listChanged: true });
    const id = await registerQuiet('moving', server);
    await makeQuiet(id, HOUR_MS);
    server.tools = [toolOf('one'), toolOf('two')];
    await sleptRound(id);
    expect(await readShown(portico, id)).toMatchObject({ tool_count: 2 });
    expect((await sleptRound(id)).inMs).toBeLessThanOrEqual(33_000);
    await makeQuiet(id, HOUR_MS);
    expect((await sleptRound(id)).inMs).toBeGreaterThan(200_000);
    await env.DB.prepare(
      "INSERT INTO open_streams (owner, opened_at) VALUES ('listen:me', 0)",
    ).run();
    expect((await sleptRound(id)).inMs).toBeLessThanOrEqual(60_000);
  });
});

describe('a late alarm', () => {
  it('[REG-4] is postponed, so that a gateway that stood still does not check all servers at once', async () => {
    const server = new FakeServer();
    const id = await registerQuiet('late', server);
    const before = server.posts.length;
    const alarm = { isRetry: false, retryCount: 0, scheduledTime: Date.now() - HOUR_MS };
    const inMs = await whileAwake(id, async (monitor, storage) => {
      // An alarm that fired is deleted.
      await storage.deleteAlarm();
      await monitor.alarm(alarm);
      return ((await storage.getAlarm()) ?? Infinity) - Date.now();
    });
    expect(inMs).toBeLessThanOrEqual(60_000);
    expect(server.posts).toHaveLength(before);
    // The next one does all the work that was due at this one.
    await sleptRound(id);
    expect(server.posts.length).toBeGreaterThan(before);
  });
});
