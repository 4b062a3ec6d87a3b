/** Which requests are kept, their log lines, and that telemetry cannot stop a request. */
import { expect, it } from 'vitest';
import type { TelemetrySettings } from '../../../src/telemetry/telemetry-settings.ts';
import { isWithin, Telemetry } from '../../../src/telemetry/telemetry.ts';
import type { Ending } from '../../../src/telemetry/operation.ts';
import type { FinishedTrace } from '../../../src/tracing/trace.ts';

const SETTINGS: TelemetrySettings = { ratio: 0.1, slowMs: 60_000, keepsContent: false, log: 'all' };
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const OTHER = '00f067aa0ba902b8';

function stand(settings: Partial<TelemetrySettings> = {}, isFailing = false, isOneMachine = false) {
  let pass = () => {};
  const traces: FinishedTrace[] = [];
  const lines: string[] = [];
  const deferred: Promise<unknown>[] = [];
  const telemetry = new Telemetry({
    settings: { ...SETTINGS, ...settings },
    async send(trace) {
      if (isFailing) throw new Error('no collector');
      traces.push(trace);
    },
    isOneMachine,
    log: async texts => void lines.push(...texts),
    point: undefined,
    wait: () => new Promise<void>(resolve => (pass = resolve)),
    now: () => 0,
  });
  const run = (
    headers: Record<string, string>,
    ending: Ending = { outcome: 'ok' },
    meta?: object,
  ) => {
    const operation = telemetry.begin(work => void deferred.push(work), new Headers(headers));
    operation.is({
      source: 'mcp',
      method: 'tools/call',
      tool: 't',
      requestId: '1',
      principalId: 'p',
    });
    operation.joins(meta);
    const { context } = operation.sends({
      server: 's',
      transportType: 'HTTP',
      url: 'https://s.example',
      method: 'tools/call',
    });
    operation.ends(ending);
    operation.release();
    return context;
  };
  return { run, traces, lines, deferred, telemetry, pass: () => pass() };
}

it('[OPS-7] a share of all requests is kept, selected by the id alone', () => {
  const ids = Array.from({ length: 1_000 }, (_, n) =>
    Math.round(((n + 0.5) / 1_000) * 16 ** 13)
      .toString(16)
      .padStart(13, '0'),
  ).map(tail => `${'a'.repeat(18)}${tail.padEnd(14, '8')}`);
  expect(ids.filter(id => isWithin(id, 0.1))).toHaveLength(100);
  expect(ids.filter(id => isWithin(id, 0))).toEqual([]);
  expect(ids.filter(id => isWithin(id, 1))).toHaveLength(1_000);
});

it('[OPS-7] the trace of the message is continued, and that of the transport is linked', () => {
  const { run } = stand();
  const ambient = { traceparent: `00-${'c'.repeat(32)}-${OTHER}-00`, tracestate: 'a=1' };
  const meta = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'b=2' };
  expect(run(ambient, { outcome: 'ok' }, meta)).toEqual({
    traceparent: expect.stringMatching(`^00-${TRACE}-[0-9a-f]{16}-01$`),
    tracestate: 'b=2',
  });
  expect(run(ambient)?.tracestate).toBe('a=1');
  expect(run({ tracestate: 'a=1' })).not.toHaveProperty('tracestate');
});

const SAMPLED = { traceparent: `00-${'f'.repeat(32)}-${PARENT}-01` };
const UNSAMPLED = { traceparent: `00-${'f'.repeat(32)}-${PARENT}-00` };

it.each<[Ending, number]>([
  [{ outcome: 'ok' }, 0],
  [{ outcome: 'cancelled' }, 0],
  [{ outcome: 'tool_error' }, 1],
  [{ outcome: 'failed', code: 'upstream_timeout' }, 1],
  [{ outcome: 'denied', code: 'tool_not_found' }, 1],
])('[OPS-7] of unsampled requests that ended as %j, %i is kept', async (ending, kept) => {
  const { telemetry, traces } = stand();
  const operation = telemetry.begin(() => {}, new Headers(UNSAMPLED));
  operation.is({ principalId: 'p' });
  operation.ends(ending);
  operation.release();
  await Promise.resolve();
  expect(traces).toHaveLength(kept);
});

it.each([
  ['by the flag', `00-${'f'.repeat(32)}-${PARENT}-01`],
  ['by the trace id', `00-${'f'.repeat(18)}${'0'.repeat(13)}1-${PARENT}-00`],
])(
  '[OPS-7] without a valid credential nobody chooses %s what is kept',
  async (_how, traceparent) => {
    const counts = [1e-9, 1].map(ratio => {
      const { telemetry, traces } = stand({ ratio, slowMs: 0 });
      for (const outcome of ['ok', 'denied', 'invalid', 'failed'] as const) {
        const operation = telemetry.begin(() => {}, new Headers({ traceparent }));
        operation.ends({ outcome });
        operation.release();
      }
      return traces;
    });
    await Promise.resolve();
    // Of the few, what failed here.
    expect(counts.map(({ length }) => length)).toEqual([1, 4]);
  },
);

it('[OPS-7] slow requests are kept', async () => {
  const { telemetry, traces } = stand({ slowMs: 0 });
  const operation = telemetry.begin(() => {}, new Headers(UNSAMPLED));
  operation.is({ principalId: 'p' });
  operation.release();
  await Promise.resolve();
  expect(traces).toHaveLength(1);
});

it('[OPS-7] a failing collector fails nothing else', async () => {
  const { telemetry, deferred } = stand({ ratio: 1 }, true);
  const begun = telemetry.begin(work => void deferred.push(work), new Headers());
  begun.release();
  expect(deferred).toHaveLength(1);
  await expect(Promise.all(deferred)).resolves.toBeDefined();
});

it.each([
  ['all', 2],
  ['errors', 1],
  ['off', 0],
] as const)('[OPS-7] the log has %s: %i lines', (log, count) => {
  const { telemetry, lines } = stand({ log });
  for (const outcome of ['ok', 'tool_error'] as const) {
    const operation = telemetry.begin(() => {}, new Headers());
    operation.is({ source: 'mcp', method: 'tools/call', requestId: 'sk-aaaaaaaaaaaaaaaaaaaaaaaa' });
    operation.is({ tool: 't', principalId: 'p', arguments: '{"a":1}', result: '{"b":2}' });
    operation.ends({ outcome });
    operation.release();
  }
  expect(lines).toHaveLength(count);
  expect(lines.join('')).not.toMatch(/"a"|"b"|sk-aaaa/);
  const last: unknown = lines.length === 0 ? {} : JSON.parse(lines.at(-1) ?? '');
  expect(last).toMatchObject(
    count === 0 ? {} : { level: 'warn', method: 'tools/call', tool: 't', outcome: 'tool_error' },
  );
});

it('[OPS-7] on one machine they are processed in batches, and the metrics are counted before that', async () => {
  const { lines, traces, deferred, telemetry, pass } = stand({}, false, true);
  const serve = () => {
    const operation = telemetry.begin(work => void deferred.push(work), new Headers(SAMPLED));
    operation.is({ principalId: 'p' });
    operation.release();
  };
  const count = () =>
    telemetry
      .families(() => true)
      .find(({ name }) => name === 'portico_requests_total')
      ?.samples.map(({ value }) => value);
  serve();
  serve();
  expect([lines.length, traces.length, deferred.length]).toEqual([0, 0, 1]);
  expect(count()).toEqual([2]);
  pass();
  await deferred[0];
  expect([lines.length, traces.length]).toEqual([2, 2]);
  expect(count()).toEqual([2]);
});
