/** Metrics of requests: what is counted, within bounds, and the text for a scraper. */
import { expect, it } from 'vitest';
import { toMetricsText, toTextForm } from '../../../src/telemetry/exposition.ts';
import type { EndedOperation } from '../../../src/telemetry/operation.ts';
import { RequestMetrics } from '../../../src/telemetry/request-metrics.ts';

const OPEN = toTextForm('application/openmetrics-text; version=1.0.0, text/plain;q=0.5');
const PLAIN = toTextForm('text/plain');
const all = (_server: string) => true;
const call = (more: Partial<EndedOperation> = {}): EndedOperation => ({
  source: 'mcp',
  method: 'tools/call',
  era: 'modern',
  server: 'github',
  tool: 'search',
  outcome: 'ok',
  trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true },
  startedAt: 1_000,
  durationMs: 30,
  upstreamMs: 20,
  sendings: [],
  ...more,
});
const text = (metrics: RequestMetrics, isShown = all, form = PLAIN) =>
  toMetricsText(metrics.families(isShown), form);

it('[OPS-7] requests are counted by server, tool, method, era and outcome', () => {
  const metrics = new RequestMetrics();
  const sending = {
    server: 'github',
    transportType: 'HTTP',
    url: 'https://x.example',
    method: 'tools/call',
    outcome: 'ok',
    spanId: '',
    startedAt: 0,
    durationMs: 20,
    questions: 2,
  } as const;
  metrics.add(call({ sendings: [sending] }), true);
  metrics.add(call(), false);
  metrics.add(call({ outcome: 'denied', code: 'rate_limited', isHit: true }), false);
  const lines = text(metrics).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'portico_requests_total{server="github",tool="search",method="tools/call",era="modern",outcome="ok"} 2',
      'portico_request_duration_seconds_bucket{method="tools/call",era="modern",le="0.05"} 3',
      'portico_gateway_duration_seconds_bucket{method="tools/call",era="modern",le="0.01"} 3',
      'portico_upstream_duration_seconds_count{server="github"} 1',
      'portico_denials_total{code="rate_limited"} 1',
      'portico_cache_hits_total{server="github"} 1',
      'portico_questions_total{server="github"} 2',
    ]),
  );
});

it('[OPS-7] a request that waits for a language model is no time of the gateway', () => {
  const metrics = new RequestMetrics();
  metrics.add(call({ usesModel: true, durationMs: 60_000 }), false);
  expect(text(metrics)).toContain('portico_request_duration_seconds_count{');
  expect(text(metrics)).not.toContain('portico_gateway_duration_seconds_count{');
});

it('[OPS-7] OpenMetrics has exemplars with trace ids of kept traces, and an end marker', () => {
  const metrics = new RequestMetrics();
  metrics.add(call(), true);
  const open = text(metrics, all, OPEN);
  expect(open).toContain(`le="0.05"} 1 # {trace_id="${'a'.repeat(32)}"} 0.03 1.000\n`);
  expect(open).toContain('# TYPE portico_requests counter\n');
  expect(open.endsWith('# EOF\n')).toBe(true);
  expect(text(metrics)).not.toMatch(/trace_id|EOF/);
});

it('[OPS-7] the number of series is bounded: further ones count as other', () => {
  const metrics = new RequestMetrics();
  for (let n = 0; n < 5_000; n += 1) metrics.add(call({ tool: `t${n}`, method: `m${n}` }), false);
  const lines = text(metrics)
    .split('\n')
    .filter(line => line.startsWith('portico_requests_total'));
  expect(lines).toHaveLength(2_001);
  expect(lines.at(-1)).toBe(
    'portico_requests_total{server="other",tool="other",method="other",era="modern",outcome="ok"} 3000',
  );
  expect(text(metrics)).not.toContain('m17');
});

it('[OPS-7] a scraper gets only the servers that it may see', () => {
  const metrics = new RequestMetrics();
  metrics.add(call(), false);
  metrics.add(call({ server: 'secret', tool: 'hidden' }), false);
  const shown = text(metrics, server => server === 'github');
  expect(shown).toContain('server="github"');
  expect(shown).not.toMatch(/"secret"|"hidden"|portico_request_duration_seconds_bucket/);
});

it('[OPS-7] tool names of a server cannot break a line', () => {
  const metrics = new RequestMetrics();
  metrics.add(call({ tool: 'a"} 1\nb\\c' }), false);
  expect(text(metrics)).toContain(String.raw`tool="a\"} 1\nb\\c"`);
});
