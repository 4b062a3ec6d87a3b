/**
 * The health of all servers in the text format of Prometheus (exposition format 0.0.4). Pure. The only labels are the names of
 * servers and of statuses, so their number is bounded by the registry.
 */
import { ServerStatusSchema } from '../registry/status.ts';
import type { MeasuredServer, ServerHealth } from './server-health.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

interface Metric {
  name: string;
  type: 'gauge' | 'counter';
  help: string;
  /** Samples of one server: more labels and a value; null is left out. */
  samples(
    server: MeasuredServer,
    known: ServerHealth | undefined,
    now: number,
  ): readonly (readonly [labels: string, value: number | null])[];
}

const one = (value: number | null | undefined) => [['', value ?? null] as const];

const METRICS: readonly Metric[] = [
  {
    name: 'portico_server_up',
    type: 'gauge',
    help: 'Whether the server is CONNECTED or DEGRADED.',
    samples: ({ status }) => one(status === 'CONNECTED' || status === 'DEGRADED' ? 1 : 0),
  },
  {
    name: 'portico_server_status',
    type: 'gauge',
    help: 'Status of the server: 1 for the one it has.',
    samples: ({ status }) =>
      ServerStatusSchema.options.map(
        option => [`,status="${option}"`, option === status ? 1 : 0] as const,
      ),
  },
  {
    name: 'portico_server_response_time_seconds',
    type: 'gauge',
    help: 'Response time of the last check.',
    samples: (_, known) => {
      const ms = known?.responseTimeMs ?? null;
      return one(ms === null ? null : round(ms / 1_000));
    },
  },
  {
    name: 'portico_server_error_ratio',
    type: 'gauge',
    help: 'Share of calls that failed in the last five minutes.',
    samples: (_, known) => one(known?.errorRate),
  },
  {
    name: 'portico_server_consecutive_failures',
    type: 'gauge',
    help: 'Failed checks in a row.',
    samples: (_, known) => one(known?.consecutiveFailures),
  },
  {
    name: 'portico_server_circuit_open',
    type: 'gauge',
    help: 'Whether calls are kept from the server.',
    samples: ({ circuitRetryAt }) => one(circuitRetryAt === null ? 0 : 1),
  },
  {
    name: 'portico_server_last_check_age_seconds',
    type: 'gauge',
    help: 'Time since the last check.',
    samples: (_, known, now) => one(known && round((now - known.checkedAt) / 1_000)),
  },
  {
    name: 'portico_server_calls_total',
    type: 'counter',
    help: 'Calls made to the server.',
    samples: ({ health }) => one(health?.callsTotal),
  },
  {
    name: 'portico_server_call_errors_total',
    type: 'counter',
    help: 'Calls that the server failed.',
    samples: ({ health }) => one(health?.errorsTotal),
  },
];

/** The text of all metrics. */
export function toMetricsText(servers: readonly MeasuredServer[], now: number): string {
  return METRICS.map(({ name, type, help, samples }) => {
    const lines = servers.flatMap(server => {
      const { generation, health } = server;
      const known = health?.generation === generation ? health : undefined;
      return samples(server, known, now)
        .filter(([, value]) => value !== null)
        .map(([labels, value]) => `${name}{server="${server.name}"${labels}} ${value}\n`);
    });
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
  }).join('');
}

const round = (value: number) => Math.round(value * 1_000_000) / 1_000_000;
