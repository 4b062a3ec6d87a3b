/** The health of all servers as metrics. Pure. The only labels are names of servers and statuses, so the registry bounds their number. */
import type { Family } from '../../telemetry/exposition.ts';
import { ServerStatusSchema } from '../registry/status.ts';
import type { MeasuredServer, ServerHealth } from './server-health.ts';

interface Metric {
  name: string;
  type: 'gauge' | 'counter';
  help: string;
  samples(server: MeasuredServer, known: ServerHealth | undefined, now: number): readonly Value[];
}

/** A sample of one server: its status, if that is a label, and a value; a sample with null is left out. */
type Value = readonly [status: string | undefined, value: number | null];

const one = (value: number | null | undefined): Value[] => [[undefined, value ?? null]];

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
      ServerStatusSchema.options.map(option => [option, option === status ? 1 : 0] as const),
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
    help: 'Whether the circuit of the server is open, so that calls are refused.',
    samples: ({ circuitRetryAt }) => one(circuitRetryAt === null ? 0 : 1),
  },
  {
    name: 'portico_server_last_check_age_seconds',
    type: 'gauge',
    help: 'Time since the last check.',
    samples: (_, known, now) => one(known && round((now - known.checkedAt) / 1_000)),
  },
  {
    name: 'portico_server_held_tools',
    type: 'gauge',
    help: 'Tools of the server that wait for an approval.',
    samples: ({ heldTools }) => one(heldTools),
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

/** Builds all metrics of servers. */
export function toServerFamilies(servers: readonly MeasuredServer[], now: number): Family[] {
  return METRICS.map(({ name, type, help, samples }) => ({
    name,
    type,
    help,
    samples: servers.flatMap(server => {
      const { generation, health } = server;
      const known = health?.generation === generation ? health : undefined;
      return samples(server, known, now).flatMap(([status, value]) => {
        if (value === null) return [];
        const labels = { server: server.name, ...(status === undefined ? {} : { status }) };
        return [{ labels, value }];
      });
    }),
  }));
}

const round = (value: number) => Math.round(value * 1_000_000) / 1_000_000;
