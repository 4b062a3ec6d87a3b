/** Exporting traces: OTLP to a real HTTP server, NDJSON into a folder, and the settings for both. */
import { afterEach, expect, it } from 'vitest';
import { OtlpBatch } from '../../../src/tracing/otlp-batch.ts';
import { toOtlpSettings } from '../../../src/tracing/otlp-settings.ts';
import { toNdjson } from '../../../src/tracing/to-ndjson.ts';
import { toOtlp } from '../../../src/tracing/to-otlp.ts';
import { createTraceTransport } from '../../../src/tracing/trace-transport.ts';
import { startCollector, type Collector, type Scripted } from '../../fixtures/otlp-collector.ts';
import { ExportTraceServiceRequest } from './otlp-schema.ts';
import { makeTrace } from './traces.ts';

let collector: Collector | undefined;
afterEach(async () => {
  await collector?.stop();
  collector = undefined;
});

/** How long traces are batched. */
const GATHER_MS = 1_000;

const settingsOf = (url: string, headers = '', isLocal = true) =>
  toOtlpSettings({ PORTICO_OTLP_URL: url, PORTICO_OTLP_HEADERS: headers }, isLocal);

function batchTo(url: string, headers = '', waits: number[] = []): OtlpBatch {
  const otlp = settingsOf(url, headers);
  if (!otlp) throw new Error('no collector');
  return new OtlpBatch({ otlp, wait: ms => Promise.resolve(waits.push(ms)), now: Date.now });
}

async function send(script: readonly Scripted[], headers = '') {
  collector = await startCollector(script);
  const waits: number[] = [];
  const batch = batchTo(`${collector.origin}/otel`, headers, waits);
  const transport = createTraceTransport({ batch, folder: undefined });
  const trace = await makeTrace();
  await transport?.(trace);
  return { trace, waits, received: collector.received };
}

it('[LLM-6] a collector gets OTLP over HTTP, with the configured headers', async () => {
  const { trace, received } = await send([], 'X-Key=a%20b, authorization = Bearer t ');
  expect(received).toHaveLength(1);
  const [{ path, headers, body } = {}] = received;
  expect(path).toBe('/otel/v1/traces');
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-key': 'a b',
    authorization: 'Bearer t',
  });
  const { resourceSpans } = ExportTraceServiceRequest.parse(body);
  expect(resourceSpans[0]?.resource.attributes[0]).toEqual({
    key: 'service.name',
    value: { stringValue: 'portico' },
  });
  const spans = resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
  expect(spans).toHaveLength(4);
  const [root, plan, call, summary] = spans;
  expect(root).toMatchObject({
    traceId: trace.traceId,
    kind: 2,
    startTimeUnixNano: '1795342500000000000',
    endTimeUnixNano: '1795342501300000000',
    status: {},
  });
  expect(root?.attributes).toEqual([
    { key: 'portico.model', value: { stringValue: 'm' } },
    { key: 'portico.steps', value: { intValue: '2' } },
    { key: 'portico.share', value: { doubleValue: 0.5 } },
    { key: 'portico.dry', value: { boolValue: false } },
    { key: 'portico.decision', value: { stringValue: 'answered' } },
  ]);
  expect(plan).toMatchObject({ kind: 1, parentSpanId: root?.spanId });
  expect(call?.status).toEqual({ code: 2, message: 'upstream_unavailable' });
  expect(summary?.endTimeUnixNano).toBe(root?.endTimeUnixNano);
});

it('[LLM-6] the schema refuses what OTLP does not have', async () => {
  const good = JSON.stringify(toOtlp([await makeTrace()]));
  const isTaken = (text: string) => ExportTraceServiceRequest.safeParse(JSON.parse(text)).success;
  expect(isTaken(good)).toBe(true);
  for (const [from, to] of [
    ['"traceId"', '"trace_id"'],
    ['"kind":2', '"kind":"SPAN_KIND_SERVER"'],
    ['"intValue":"2"', '"intValue":2'],
    ['"1795342500000000000"', '1795342500000000000'],
    [/"spanId":"\w+"/, '"spanId":"AAECAwQFBgc="'],
  ] as const) {
    const bad = good.replace(from, to);
    expect([String(from), bad === good, isTaken(bad)]).toEqual([String(from), false, false]);
  }
});

const PAST = 'Wed, 21 Oct 2015 07:28:00 GMT';
const COMING = 'Fri, 21 Oct 2095 07:28:00 GMT';

it.each<[string, Scripted[], number, number[]]>([
  ['503 with Retry-After', [{ status: 503, headers: { 'retry-after': '2' } }], 2, [2_000]],
  ['429 without', [{ status: 429 }], 2, [1_000]],
  ['429 that asks for an hour', [{ status: 429, headers: { 'retry-after': '3600' } }], 2, [4_000]],
  ['503 until a date in the past', [{ status: 503, headers: { 'retry-after': PAST } }], 2, [0]],
  ['503 until a date to come', [{ status: 503, headers: { 'retry-after': COMING } }], 2, [4_000]],
  ['502 twice', [{ status: 502 }, { status: 502 }], 2, [1_000]],
  ['400', [{ status: 400 }], 1, []],
  ['500', [{ status: 500 }], 1, []],
  ['a redirect', [{ status: 307, headers: { location: '/elsewhere' } }], 1, []],
])('[LLM-6] a collector that answers %s', async (_what, script, requests, expected) => {
  const { waits, received } = await send(script);
  expect(received).toHaveLength(requests);
  expect(waits).toEqual([GATHER_MS, ...expected]);
});

it('[LLM-6] an unreachable collector fails nothing, and the folder gets its trace', async () => {
  const gone = await startCollector();
  await gone.stop();
  const puts: [string, unknown][] = [];
  const transport = createTraceTransport({
    batch: batchTo(gone.origin),
    folder: {
      fetch(url, { body }) {
        puts.push([url, body]);
        return Promise.resolve(new Response(null, { status: 201 }));
      },
    },
  });
  const trace = await makeTrace();
  await expect(transport?.(trace)).resolves.toBeUndefined();
  const url = `https://traces.invalid/2026-11-22T10-15-00.000Z-${trace.traceId}`;
  expect(puts).toEqual([[url, toNdjson(trace)]]);
});

it('[LLM-6] traces that wait in vain, as many as fit, are sent by the next caller', async () => {
  collector = await startCollector([]);
  const otlp = settingsOf(`${collector.origin}/otel`);
  if (!otlp) throw new Error('no collector');
  let now = 0;
  let waits = 0;
  // The first caller is cut off.
  const wait = () => ((waits += 1) === 1 ? new Promise(() => {}) : Promise.resolve());
  const batch = new OtlpBatch({ otlp, wait, now: () => now });
  const trace = await makeTrace();
  for (let n = 0; n < 1_024; n += 1) void batch.add(trace);
  await batch.add(trace);
  expect([batch.droppedSpans, collector.received.length]).toEqual([4, 0]);
  now += 60_000;
  await batch.add(trace);
  expect(batch.droppedSpans).toBe(8);
  expect(collector.received).toHaveLength(8);
});

it('[LLM-6] NDJSON has a line for each span, the root first', async () => {
  const trace = await makeTrace();
  const lines = toNdjson(trace)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toHaveLength(4);
  expect(lines[0]).toEqual({
    trace_id: trace.traceId,
    span_id: trace.spans[0]?.spanId,
    name: 'ask',
    start: '2026-11-22T10:15:00.000Z',
    duration_ms: 1_300,
    decision: 'answered',
    attributes: { model: 'm', steps: 2, share: 0.5, dry: false },
  });
  expect(lines[3]).toMatchObject({ name: 'summary', unfinished: true, duration_ms: 0 });
});

it('[LLM-6] without settings traces are not exported', () => {
  expect(settingsOf('')).toBeUndefined();
  expect(createTraceTransport({ batch: undefined, folder: undefined })).toBeUndefined();
});

it.each([
  ['https://c.example.com', '', 'https://c.example.com/v1/traces'],
  ['https://c.example.com/otel/', '', 'https://c.example.com/otel/v1/traces'],
  ['https://c.example.com/v1/traces', '', 'https://c.example.com/v1/traces'],
  ['https://c.example.com/x?key=1', '', 'https://c.example.com/x/v1/traces?key=1'],
])('[LLM-6] %s is posted to at %s%s', (url, headers, expected) => {
  expect(settingsOf(url, headers, false)?.url).toBe(expected);
});

it.each([
  ['http://c.example.com', '', 'PORTICO_OTLP_URL'],
  ['https://u:hunter2@c.example.com', '', 'PORTICO_OTLP_URL'],
  ['https://c.example.com', 'hunter2', 'PORTICO_OTLP_HEADERS'],
  ['https://c.example.com', 'a=%0d%0ahunter2', 'PORTICO_OTLP_HEADERS'],
  ['https://c.example.com', 'a=%zzhunter2', 'PORTICO_OTLP_HEADERS'],
  ['https://c.example.com', 'Content-Type=hunter2', 'PORTICO_OTLP_HEADERS'],
  ['https://c.example.com', Array.from({ length: 17 }, (_, at) => `h${at}=hunter2`).join(), 'more'],
])(
  '[LLM-6] an invalid setting is named, and its value is not shown: %s %s',
  (url, headers, word) => {
    const said = (() => {
      try {
        return String(settingsOf(url, headers, false));
      } catch (error) {
        return String(error);
      }
    })();
    expect(said).toContain(word);
    expect(said).not.toContain('hunter2');
  },
);
