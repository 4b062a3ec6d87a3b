/**
 * Servers of every kind that are disconnected while they work: a running call ends with its own result, or is cut when the drain time is
 * over, and then the server is told.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { KINDS, type Kind, type Plan } from '../../worker/support/asking-script.ts';
import { until } from '../../fixtures/start-fixture.ts';
import { startAsking, type AskingUpstream } from '../support/asking-upstream.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { startScripted, resultText } from '../support/scripted-upstream.ts';

const SERVERS = '/api/v1/aggregator/servers';
const soon = { timeout: 30_000, interval: 10 };
/** A long call is known to the server's monitor after two seconds, and a little later on a busy machine. */
const KNOWN_MS = 5_000;
const upstreams = {} as Record<Kind, AskingUpstream>;
const ids = {} as Record<Kind, string>;
/** This gateway cuts calls after three seconds. */
let gateway: Gateway;
/** This gateway gives calls all the time they need. */
let patient: Gateway;
let calls = 0;

beforeAll(async () => {
  gateway = await startGateway({
    env: { PORTICO_DRAIN_MS: '3000', PORTICO_HEALTH_INTERVAL_MS: '3600000' },
  });
  patient = await startGateway({ env: { PORTICO_DRAIN_MS: '100000', ...QUIET } });
  for (const kind of KINDS) {
    upstreams[kind] = await startAsking(kind);
    const transport_type = kind === 'sse-legacy' ? 'SSE' : 'HTTP';
    ids[kind] = (await gateway.register(kind, upstreams[kind].url, { transport_type })).id;
  }
}, 300_000);

afterAll(async () => {
  await Promise.all([gateway?.stop(), patient?.stop()]);
  await Promise.all(Object.values(upstreams).map(upstream => upstream.close()));
});

/** Starts a call that follows the plan; returns it with what the server sees of it. */
function start(kind: Kind, plan: Omit<Plan, 'mark'>) {
  calls += 1;
  const mark = `call-${calls}`;
  const answer = gateway.api('POST', '/api/v1/tools/call', {
    name: `${kind}.ask`,
    arguments: { mark, ...plan },
  });
  return { answer, seen: () => upstreams[kind].server.call(mark) };
}

const act = (id: string, verb: 'connect' | 'disconnect', at = gateway) =>
  at.api('POST', `${SERVERS}/${id}/${verb}`);
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

describe.each(KINDS)('a server of %s', kind => {
  it('[REG-3] [AG-US6-AC2] [AG-US6-AC3] that hangs when it is disconnected is told that its call was cut', async () => {
    const { answer, seen } = start(kind, { hang: true });
    await vi.waitFor(() => expect(seen()).toBeDefined(), soon);
    const down = await act(ids[kind], 'disconnect');
    expect(down.json['status']).toBe('DISCONNECTED');
    const { status, json } = await answer;
    expect([status, json['code']]).toEqual([503, 'server_disconnected']);
    const heard = { cut: kind !== 'sse-legacy', cancelled: kind !== 'http-modern', done: false };
    await vi.waitFor(() => expect(seen()).toMatchObject({ ...heard, arrivals: 1 }), soon);
    await act(ids[kind], 'connect');
    await gateway.waitFor(ids[kind], 'CONNECTED');
  }, 300_000);
});

describe.each(['legacy', 'modern'] as const)('a slow %s server', era => {
  it('[REG-3] [AG-US6-AC2] [AG-US6-AC3] ends the calls it began, and gets no new ones', async () => {
    let release = () => {};
    const isReleased = new Promise<void>(resolve => (release = resolve));
    const slow = await startScripted(
      era,
      {
        'tools/list': {
          member: 'tools',
          items: [{ name: 'slow', inputSchema: { type: 'object' } }],
        },
      },
      async ({ id }) => {
        await isReleased;
        return { body: resultText(id, '{"content":[{"type":"text","text":"done"}]}') };
      },
    );
    const name = `slow-${era}`;
    const { id } = await patient.register(name, slow.url);
    const body = { name: `${name}.slow` };
    const answers = Array.from({ length: 20 }, () =>
      patient.api('POST', '/api/v1/tools/call', body),
    );
    await until('all calls arrived', 60_000, async () => (slow.calls() === 20 ? true : undefined));
    await pause(KNOWN_MS);
    const down = await act(id, 'disconnect', patient);
    expect(down.json).toEqual({ status: 'DISCONNECTED', pending_requests: 20 });
    const refused = await patient.api('POST', '/api/v1/tools/call', body);
    expect([refused.status, refused.json['code']]).toEqual([503, 'server_disconnected']);
    release();
    for (const { status, json } of await Promise.all(answers)) {
      expect([status, json['content']]).toEqual([200, [{ type: 'text', text: 'done' }]]);
    }
    expect(slow.calls()).toBe(20);
    await slow.close();
  }, 300_000);
});
