/** Outcomes of calls in an isolate: which count against a server, when its monitor gets them, and that no call waits for that. */
import { describe, expect, it, vi } from 'vitest';
import { ERROR_CODES } from '../../../src/shared/errors/table.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { outcomeOf, CallTally, type CallReport } from '../../../src/servers/health/call-report.ts';
import { CallReports, reportOutcome } from '../../../src/gateway/steps/server-health.ts';
import type { Send } from '../../../src/gateway/steps/send.ts';
import type { CallContext, CallMessage, CallReply } from '../../../src/upstream/protocol/call.ts';
import { createRecord } from './fakes.ts';

const server = createRecord('alpha');

function createWorld(intervalMs = 2_000) {
  const sent: [string, CallReport][] = [];
  const wanted: [string, number][] = [];
  const waits: { ms: number; end: () => void }[] = [];
  const deferred: Promise<unknown>[] = [];
  let now = 1_000_000;
  const reports = new CallReports({
    intervalMs,
    now: () => now,
    send: async (id, report) => void sent.push([id, report]),
    want: async (id, generation) => void wanted.push([id, generation]),
    wait: ms => new Promise<void>(end => waits.push({ ms, end })),
  });
  return {
    reports,
    sent,
    wanted,
    refuse: (inMs: number, from = server) =>
      reports.refuse({ ...from, circuitRetryAt: now + inMs }, work => deferred.push(work)),
    waits,
    deferred,
    add: (code?: Parameters<CallReports['add']>[1], from = server) =>
      reports.add(from, code, 7, work => deferred.push(work)),
    tick: (ms: number) => (now += ms),
    async settle() {
      for (const { end } of waits.splice(0)) end();
      await Promise.all(deferred);
    },
  };
}

describe('an outcome', () => {
  it('[REG-4] counts against the server if the server caused it', () => {
    const failed = ERROR_CODES.filter(code => outcomeOf(code) === 'failed');
    expect(failed).toEqual([
      'upstream_unreachable',
      'upstream_timeout',
      'upstream_truncated',
      'upstream_no_response',
      'upstream_session',
      'upstream_5xx',
      'upstream_redirect',
      'upstream_bad_content_type',
      'upstream_bad_json',
      'upstream_bad_message',
    ]);
    expect(outcomeOf(undefined)).toBe('good');
    for (const code of ['upstream_auth', 'upstream_4xx', 'upstream_rate_limited'] as const)
      expect(outcomeOf(code)).toBe('answered');
    for (const code of ['server_disconnected', 'tool_not_found', 'upstream_needs_input'] as const)
      expect(outcomeOf(code)).toBe('none');
  });
});

describe('a tally', () => {
  it('[AG-US5-AC7] counts calls, failures by reason, durations and the time of the last good message', () => {
    const tally = new CallTally(4);
    tally.add(undefined, 3, 10);
    tally.add('upstream_4xx', 8, 20);
    tally.add('upstream_5xx', 1, 30);
    tally.add('upstream_timeout', 9_000, 40);
    tally.add('upstream_timeout', 9_000, 50);
    tally.add('internal', 1, 60);
    expect(tally.toReport()).toMatchObject({
      generation: 4,
      calls: 5,
      errors: 3,
      totalMs: 11,
      reasons: { upstream_5xx: 1, upstream_timeout: 2 },
      lastGoodAt: 10,
      failuresInRow: 3,
      isRowWhole: false,
    });
  });
});

describe('a monitor', () => {
  it('[REG-4] gets one report for all calls of an interval', async () => {
    const { add, waits, sent, settle, deferred } = createWorld();
    for (let i = 0; i < 100; i += 1) add();
    expect(waits.map(({ ms }) => ms)).toEqual([2_000]);
    expect(deferred).toHaveLength(1);
    await settle();
    expect(sent).toMatchObject([[server.id, { calls: 100, errors: 0, isRowWhole: false }]]);
    add();
    await settle();
    expect(sent).toHaveLength(2);
  });

  it('[REG-4] gets a report at once after three failures in a row, and is not flooded with more', async () => {
    const { add, sent, settle, tick } = createWorld();
    add();
    for (let i = 0; i < 3; i += 1) add('upstream_5xx');
    await Promise.resolve();
    expect(sent).toMatchObject([[server.id, { calls: 4, errors: 3, failuresInRow: 3 }]]);
    for (let i = 0; i < 50; i += 1) add('upstream_5xx');
    expect(sent).toHaveLength(1);
    tick(200);
    add('upstream_5xx');
    await Promise.resolve();
    expect(sent[1]).toMatchObject([server.id, { calls: 51, failuresInRow: 51, isRowWhole: true }]);
    await settle();
    expect(sent).toHaveLength(2);
  });

  it('[UP-5] gets a report at once of a good answer after failures in a row or a refusal', async () => {
    const { add, sent, refuse, tick } = createWorld();
    for (let i = 0; i < 3; i += 1) add('upstream_5xx');
    tick(200);
    add();
    await Promise.resolve();
    expect(sent[1]).toMatchObject([server.id, { calls: 1, lastGoodAt: 1_000_200 }]);
    tick(200);
    add();
    expect(sent).toHaveLength(2);
    refuse(100);
    add('upstream_4xx');
    expect(sent).toHaveLength(2);
    add();
    await Promise.resolve();
    expect(sent[2]).toMatchObject([server.id, { calls: 3, lastGoodAt: 1_000_400 }]);
  });

  it('[UP-5] learns once a second that its server is wanted while no trial is due soon', () => {
    const { refuse, wanted, tick } = createWorld();
    for (let i = 0; i < 10; i += 1) refuse(1_000);
    expect(wanted).toEqual([]);
    for (let i = 0; i < 10; i += 1) refuse(1_001);
    expect(wanted).toEqual([[server.id, server.generation]]);
    tick(999);
    refuse(60_000);
    expect(wanted).toHaveLength(1);
    tick(1);
    refuse(60_000);
    expect(wanted).toHaveLength(2);
    refuse(60_000, { ...server, generation: 2 });
    expect(wanted[2]).toEqual([server.id, 2]);
  });

  it('[REG-4] gets the report even if the sender was cut off', async () => {
    const { add, sent, waits, deferred, tick, settle } = createWorld();
    add();
    waits.splice(0);
    deferred.splice(0);
    tick(3_000);
    add();
    expect(waits).toHaveLength(0);
    tick(1_000);
    add();
    await settle();
    expect(sent).toMatchObject([[server.id, { calls: 3 }]]);
  });

  it('[REG-4] [EDGE-2] gets good calls at the interval, and a failure soon', async () => {
    const { add, waits, sent, settle, tick } = createWorld(300_000);
    add();
    expect(waits.map(({ ms }) => ms)).toEqual([25_000]);
    tick(25_000);
    await settle();
    expect(sent).toHaveLength(1);
    // With one call in ten seconds, no report is scheduled while it would come too soon.
    for (let calls = 0; calls < 27; calls += 1) {
      tick(10_000);
      add();
    }
    expect(waits).toEqual([]);
    tick(10_000);
    add();
    expect(waits.map(({ ms }) => ms)).toEqual([25_000]);
    // A failure does not wait for it.
    add('upstream_5xx');
    expect(waits.map(({ ms }) => ms)).toEqual([25_000, 2_000]);
    await settle();
    expect(sent[1]).toMatchObject([server.id, { calls: 29, errors: 1 }]);
    expect(sent).toHaveLength(2);
  });

  it('[REG-4] gets a separate report per generation, and reports survive a failed send', async () => {
    const { add, settle, sent } = createWorld();
    add();
    add('upstream_5xx', { ...server, generation: 2 });
    await settle();
    expect(sent).toMatchObject([[server.id, { generation: 2, calls: 1, errors: 1 }]]);
    const failing = new CallReports({
      intervalMs: 1,
      now: () => 0,
      wait: () => Promise.resolve(),
      send: () => Promise.reject(new Error('gone')),
      want: () => Promise.reject(new Error('gone')),
    });
    const work: Promise<unknown>[] = [];
    failing.add(server, undefined, 1, one => work.push(one));
    failing.refuse({ ...server, circuitRetryAt: 9_000 }, one => work.push(one));
    expect(work).toHaveLength(2);
    await expect(Promise.all(work)).resolves.toBeDefined();
  });
});

it('[REG-4] a late call of an older generation takes nothing from the newer one', async () => {
  const { add, refuse, settle, sent, wanted } = createWorld();
  const newer = { ...server, generation: server.generation + 1 };
  add('upstream_5xx', newer);
  add('upstream_timeout');
  refuse(60_000);
  add('upstream_5xx', newer);
  await settle();
  expect(sent).toMatchObject([[server.id, { generation: newer.generation, calls: 2, errors: 2 }]]);
  expect(wanted).toEqual([]);
});

describe('an observed call', () => {
  const response: CallMessage = { kind: 'response', result: '{}', parsed: {} };
  const question: CallMessage = {
    kind: 'question',
    method: 'elicitation/create',
    params: '{}',
    answer: async () => {},
  };
  const request = { method: 'tools/call', params: new Map() };

  function createCall(call: Send) {
    const add = vi.fn<CallReports['add']>();
    const controller = new AbortController();
    const context: CallContext = {
      signal: controller.signal,
      owner: () => '',
      waitUntil: () => {},
      capabilities: {},
      questions: 'ask',
    };
    const watched = reportOutcome({ add })(call);
    const codes = () => add.mock.calls.map(([, code]) => code as unknown);
    return { make: () => watched(server, request, undefined, context), codes, controller };
  }
  const streamOf = async function* (messages: CallMessage[], error?: PorticoError) {
    yield* messages;
    if (error) throw error;
  };
  const drain = async (reply: CallReply) => {
    if ('messages' in reply)
      for await (const message of reply.messages) expect(message).toBeDefined();
  };

  it('[REG-4] reports how it ended, once', async () => {
    const single = createCall(async () => ({ response }));
    await single.make();
    expect(single.codes()).toEqual([undefined]);
    const thrown = createCall(() => Promise.reject(new PorticoError('upstream_5xx')));
    await expect(thrown.make()).rejects.toThrow('The server failed');
    expect(thrown.codes()).toEqual(['upstream_5xx']);
    const streamed = createCall(async () => ({ messages: streamOf([response]) }));
    await drain(await streamed.make());
    expect(streamed.codes()).toEqual([undefined]);
    const broken = createCall(async () => ({
      messages: streamOf([], new PorticoError('upstream_truncated')),
    }));
    await expect(broken.make().then(drain)).rejects.toThrow('cut off');
    expect(broken.codes()).toEqual(['upstream_truncated']);
  });

  it('[REG-4] does not count against the server if the client left or did not answer', async () => {
    const left = createCall(() => Promise.reject(new PorticoError('upstream_unreachable')));
    left.controller.abort();
    await expect(left.make()).rejects.toThrow('cannot be reached');
    expect(left.codes()).toEqual([]);
    const dropped = createCall(async () => ({ messages: streamOf([question, response]) }));
    const reply = await dropped.make();
    if ('messages' in reply) {
      await reply.messages.next();
      await reply.messages.return();
    }
    expect(dropped.codes()).toEqual([]);
    const asked = createCall(async () => ({
      messages: streamOf([question], new PorticoError('upstream_timeout')),
    }));
    await expect(asked.make().then(drain)).rejects.toThrow('in time');
    expect(asked.codes()).toEqual(['internal']);
  });
});
