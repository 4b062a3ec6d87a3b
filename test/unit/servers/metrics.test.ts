/** The text for a scraper: every line valid, one type per metric, nothing for unknown values. */
import { expect, it } from 'vitest';
import { toServerFamilies } from '../../../src/servers/health/metrics.ts';
import { PROMETHEUS, toMetricsText } from '../../../src/telemetry/exposition.ts';
import type { MeasuredServer } from '../../../src/servers/health/server-health.ts';

const base = { generation: 2, circuitRetryAt: null, heldTools: 0 };
const health = {
  serverId: 'a',
  generation: 2,
  state: 'degraded',
  reason: 'upstream_5xx',
  checkedAt: 10_000,
  responseTimeMs: 12.5,
  errorRate: 0.25,
  consecutiveFailures: 0,
  lastGoodAt: 9_000,
  callsTotal: 40,
  errorsTotal: 10,
} as const;
const servers: MeasuredServer[] = [
  { ...base, id: 'a', name: 'alpha', status: 'DEGRADED', health },
  { ...base, id: 'b', name: 'beta', status: 'DISCONNECTED', health: undefined },
  {
    ...base,
    id: 'c',
    name: 'gamma',
    status: 'ERROR',
    circuitRetryAt: 5,
    health: { ...health, generation: 1 },
  },
];
const lines = toMetricsText(toServerFamilies(servers, 12_000), PROMETHEUS).split('\n');

it('[AG-US5-AC7] [OPS-2] has a form that scrapers read', () => {
  const sample = /^portico_[a-z_]+\{server="[\w-]+"(,status="[A-Z]+")?\} -?\d+(\.\d+)?$/;
  const comment = /^# (HELP portico_[a-z_]+ .+\.|TYPE portico_[a-z_]+ (gauge|counter))$/;
  expect(lines.pop()).toBe('');
  for (const line of lines) expect(line).toMatch(line.startsWith('#') ? comment : sample);
  const types = lines.filter(line => line.startsWith('# TYPE')).map(line => line.split(' ')[2]);
  expect(new Set(types).size).toBe(types.length);
  const counters = lines.filter(line => line.endsWith(' counter'));
  expect(counters.every(line => line.includes('_total counter'))).toBe(true);
});

it('[AG-US5-AC7] [REG-4] shows response time, error rate, calls and status of each server', () => {
  expect(lines).toEqual(
    expect.arrayContaining([
      'portico_server_up{server="alpha"} 1',
      'portico_server_up{server="beta"} 0',
      'portico_server_up{server="gamma"} 0',
      'portico_server_status{server="alpha",status="DEGRADED"} 1',
      'portico_server_status{server="alpha",status="ERROR"} 0',
      'portico_server_response_time_seconds{server="alpha"} 0.0125',
      'portico_server_error_ratio{server="alpha"} 0.25',
      'portico_server_last_check_age_seconds{server="alpha"} 2',
      'portico_server_circuit_open{server="alpha"} 0',
      'portico_server_circuit_open{server="gamma"} 1',
      'portico_server_calls_total{server="alpha"} 40',
      'portico_server_call_errors_total{server="gamma"} 10',
    ]),
  );
  const text = lines.join('\n');
  expect(text).not.toMatch(/response_time_seconds\{server="(beta|gamma)"/);
  expect(text).not.toMatch(/calls_total\{server="beta"/);
});
