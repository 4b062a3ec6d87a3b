/** The circuit breaker and calls: every isolate obeys the monitor's decision, and no call is ever the trial. */
import { countAsked } from '../support/asked-objects.ts';
import { env } from 'cloudflare:workers';
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CallTally } from '../../../src/servers/health/call-report.ts';
import type { Remembered } from '../../../src/servers/health/remembered.ts';
import { FakeServer, resultOf, serve } from '../support/fake-server.ts';
import {
  PATIENT,
  SERVERS,
  createPortico,
  modern,
  monitorOf,
  registerConnected,
  whenQuiet,
  type RpcAnswer,
} from '../support/portico.ts';
import { beat, callTool, historyOf, readShown } from '../support/health.ts';

const portico = createPortico();
/** Another isolate, which saw none of the failures. */
const elsewhere = createPortico();
afterEach(async () => {
  await portico.settle();
  await elsewhere.settle();
});

const fail = () => new Response('{}', { status: 500 });
const call = (name: string, from = portico) =>
  from.api('POST', '/api/v1/tools/call', { name: `${name}.echo` });

/** A server that answered once and then always fails, until its circuit is open. */
async function openCircuit(name: string) {
  const server = new FakeServer({ sessionful: false });
  serve({ [name]: server });
  const { id } = await registerConnected(portico, name);
  server.outage = fail;
  const codes = await callTool(portico, `${name}.echo`, 5);
  await portico.settle();
  await vi.waitFor(
    async () => expect((await readShown(portico, id)).health.circuit).not.toBe('closed'),
    PATIENT,
  );
  return { id, server, codes };
}

const healthOf = (id: string) =>
  runInDurableObject(monitorOf(id), (_, { storage }) => storage.get<Remembered>('health'));

/** An hour, in milliseconds: work that is due then does not run in a test. */
const LONG_MS = 3_600_000;

/** Schedules the trial of an open circuit in `inMs` and nothing else, as if nobody had wanted the server for long. */
async function rest(id: string, inMs = LONG_MS): Promise<void> {
  await whenQuiet(id);
  await runDurableObjectAlarm(monitorOf(id));
  const longAt = Date.now() + LONG_MS;
  const retryAt = Date.now() + inMs;
  // Its next check cycle is some time away: its state is replaced, and nothing else is due.
  await evictDurableObject(monitorOf(id));
  await runInDurableObject(monitorOf(id), async (_, { storage }) => {
    const held = await storage.get<Remembered>('health');
    if (!held) throw new Error('nothing is known of the server');
    await storage.put('health', { ...held, circuit: { ...held.circuit, retryAt } });
    await storage.put('schedule', { checkAt: longAt, lookAt: longAt, alarmAt: retryAt });
    await storage.setAlarm(retryAt);
  });
  await env.DB.prepare('UPDATE servers SET circuit_retry_at = ? WHERE id = ?')
    .bind(retryAt, id)
    .run();
}

const rowOf = (id: string) =>
  env.DB.prepare('SELECT circuit_retry_at FROM servers WHERE id = ?')
    .bind(id)
    .first<{ circuit_retry_at: number | null }>();

describe('an open circuit', () => {
  it('[UP-5] refuses calls before they are sent, everywhere, and says when to retry', async () => {
    const { server, codes } = await openCircuit('refused');
    expect(codes.filter(code => code !== 'circuit_open')).not.toEqual([]);
    const before = server.of('tools/call').length;
    const refused = await call('refused', elsewhere);
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'circuit_open' }]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const { message, headers } = modern('tools/call', { name: 'refused.echo', arguments: {} });
    const answer = await (await elsewhere.post(message, { headers })).json<RpcAnswer>();
    expect(answer.result).toMatchObject({
      isError: true,
      _meta: { 'portico/reason': 'circuit_open' },
    });
    expect(answer.result?.content?.[0]?.text).toMatch(/^refused: .*\(circuit_open\)\. Retry after/);
    expect(server.of('tools/call')).toHaveLength(before);
  });

  it('[UP-5] asks no object and no upstream for a refused call', async () => {
    await openCircuit('untouched');
    await call('untouched', elsewhere);
    const monitors = countAsked(env.SERVER_MONITOR);
    const sessions = countAsked(env.CLIENT_SESSION);
    await call('untouched', elsewhere);
    await elsewhere.settle();
    expect([monitors(), sessions()]).toEqual([0, 0]);
  });

  it('[UP-5] is tried by the monitor when due; a failed trial leaves no trace, and a good one closes it', async () => {
    const { id, server } = await openCircuit('tried');
    await rest(id, 0);
    const readTraces = async () => [
      await historyOf(portico, id),
      await readShown(portico, id),
      await rowOf(id),
    ];
    const before = await readTraces();
    let trials = 0;
    server.outage = () => {
      trials += 1;
      return fail();
    };
    await vi.waitFor(() => expect(trials).toBeGreaterThanOrEqual(3), PATIENT);
    expect(await readTraces()).toEqual(before);
    server.outage = undefined;
    await vi.waitFor(async () => {
      expect((await beat(portico, id)).circuit).toBe('closed');
    }, PATIENT);
    expect(await rowOf(id)).toEqual({ circuit_retry_at: null });
    expect(await readShown(portico, id)).toMatchObject({ status: 'CONNECTED' });
    await vi.waitFor(
      async () => expect((await call('tried', elsewhere)).status).toBe(200),
      PATIENT,
    );
  });

  it('[UP-5] is tried soon when a call is refused after a long pause', async () => {
    const { id, server } = await openCircuit('wanted');
    server.outage = undefined;
    await rest(id);
    await elsewhere.settle();
    await vi.waitFor(async () => {
      expect((await call('wanted', elsewhere)).status).toBe(200);
    }, PATIENT);
    expect(await rowOf(id)).toEqual({ circuit_retry_at: null });
  });

  it('[UP-5] is closed by a call that was answered since, without a trial', async () => {
    const { id, server } = await openCircuit('late');
    await rest(id);
    server.outage = undefined;
    const generation = (await healthOf(id))?.generation ?? Number.NaN;
    const late = new CallTally(generation);
    late.add(undefined, 9, Date.now());
    const old = new CallTally(generation);
    old.add(undefined, 9, Date.now() - 3_600_000);
    expect(await monitorOf(id).report(old.toReport())).toBe(false);
    expect((await rowOf(id))?.circuit_retry_at).toBeGreaterThan(Date.now());
    expect(await monitorOf(id).report(late.toReport())).toBe(true);
    expect(await rowOf(id)).toEqual({ circuit_retry_at: null });
    expect((await healthOf(id))?.circuit.retryAt).toBeNull();
  });

  it('[UP-5] closes before the lists are read', async () => {
    const { id, server } = await openCircuit('listed');
    const listing = Promise.withResolvers<void>();
    server.answers.set('tools/list', async post => {
      await listing.promise;
      return resultOf(post, { tools: server.tools });
    });
    server.outage = undefined;
    await vi.waitFor(
      async () => expect(await rowOf(id)).toEqual({ circuit_retry_at: null }),
      PATIENT,
    );
    await vi.waitFor(async () => expect((await call('listed')).status).toBe(200), PATIENT);
    listing.resolve();
    await whenQuiet(id);
  });

  it('[UP-5] is closed by a new connect, and removed by a disconnect', async () => {
    const { id, server } = await openCircuit('anew');
    await portico.api('POST', `${SERVERS}/${id}/disconnect`);
    expect(await rowOf(id)).toEqual({ circuit_retry_at: null });
    server.outage = undefined;
    await portico.api('POST', `${SERVERS}/${id}/connect`);
    await vi.waitFor(
      async () =>
        expect(await readShown(portico, id)).toMatchObject({
          status: 'CONNECTED',
          health: { circuit: 'closed', consecutive_failures: 0 },
        }),
      PATIENT,
    );
    await vi.waitFor(async () => expect((await call('anew')).status).toBe(200), PATIENT);
  });
});

describe('a circuit stays closed', () => {
  it('[UP-5] for refusals, challenges and errors that are no fault of the server', async () => {
    const server = new FakeServer({ sessionful: false });
    serve({ picky: server });
    const { id } = await registerConnected(portico, 'picky');
    for (const status of [400, 404, 401, 403, 429]) {
      server.call = () => new Response('{}', { status });
      await callTool(portico, 'picky.echo', 3);
    }
    await portico.settle();
    expect((await readShown(portico, id)).health.circuit).toBe('closed');
  });

  it('[UP-5] for failures that are not in a row', async () => {
    const server = new FakeServer({ sessionful: false });
    serve({ mixed: server });
    const { id } = await registerConnected(portico, 'mixed');
    const answer = server.call;
    let count = 0;
    server.call = post => ((count += 1) % 5 === 0 ? answer(post) : fail());
    await callTool(portico, 'mixed.echo', 4);
    await portico.settle();
    await callTool(portico, 'mixed.echo', 5);
    await portico.settle();
    await beat(portico, id);
    expect((await readShown(portico, id)).health.circuit).toBe('closed');
  });
});
