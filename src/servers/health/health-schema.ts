/** The health of a server in the API. */
import { z } from 'zod';
import { ServerViewSchema, toServerView, type Server } from '../registry/server-schema.ts';
import { circuitStateOf } from './circuit.ts';
import { CHECK_WAYS, FINDING_KINDS } from './finding.ts';
import type { LoggedCheck } from './health-log-store.ts';
import { HEALTH_STATES } from './next-status.ts';
import type { ServerHealth } from './server-health.ts';

/** Health shown with the record of a server. */
export const HealthViewSchema = z
  .object({
    /** `unknown` before the first check since the server was connected. */
    state: z.enum([...HEALTH_STATES, 'unknown', 'disconnected']),
    checked_at: z.iso.datetime().nullable(),
    response_time_ms: z.number().nullable(),
    error_rate: z.number().nullable(),
    consecutive_failures: z.number().int(),
    reason: z.string().nullable(),
    last_good_at: z.iso.datetime().nullable(),
    /** `open`: no call is sent to it; `half_open`: it is being tried. */
    circuit: z.enum(['closed', 'open', 'half_open']),
  })
  .meta({ id: 'ServerHealth' });

type HealthView = z.infer<typeof HealthViewSchema>;

/** A server with its health. */
export const ShownServerSchema = ServerViewSchema.extend({ health: HealthViewSchema });

export type ShownServer = z.infer<typeof ShownServerSchema>;

/** One check of the history. */
export const CheckViewSchema = z.object({
  id: z.number().int(),
  at: z.iso.datetime(),
  finding: z.enum(FINDING_KINDS),
  way: z.enum(CHECK_WAYS),
  reason: z.string().nullable(),
  response_time_ms: z.number().nullable(),
});

/** The calls of a time window. */
const WindowViewSchema = z
  .object({
    calls: z.number().int(),
    errors: z.number().int(),
    error_rate: z.number().nullable(),
    average_ms: z.number().nullable(),
    p50_ms: z.number().nullable(),
    p95_ms: z.number().nullable(),
    /** Failures by error code. */
    reasons: z.record(z.string(), z.number().int()),
  })
  .meta({ id: 'CallWindow' });

/** The history of one server, newest first. */
export const HealthHistorySchema = z.object({
  checks: z.array(CheckViewSchema),
  /** Pass it as `before` to get older checks; null if there are none. */
  next_before: z.number().int().nullable(),
  windows: z.object({ '1m': WindowViewSchema, '5m': WindowViewSchema, '1h': WindowViewSchema }),
});

export type HealthHistory = z.infer<typeof HealthHistorySchema>;

const toTime = (at: number | null) => (at === null ? null : new Date(at).toISOString());

/** @param known health of the server; it is not shown if it belongs to an older generation */
function toHealthView(server: Server, known: ServerHealth | undefined): HealthView {
  const row = known?.generation === server.generation ? known : undefined;
  const isDown = server.status === 'DISCONNECTED';
  return {
    state: isDown ? 'disconnected' : (row?.state ?? 'unknown'),
    checked_at: toTime(row?.checkedAt ?? null),
    response_time_ms: row?.responseTimeMs ?? null,
    error_rate: row?.errorRate ?? null,
    consecutive_failures: row?.consecutiveFailures ?? 0,
    reason: row?.reason ?? null,
    last_good_at: toTime(row?.lastGoodAt ?? null),
    circuit: circuitStateOf(server.circuitRetryAt, Date.now()),
  };
}

export function toShownServer(server: Server, known: ServerHealth | undefined): ShownServer {
  return { ...toServerView(server), health: toHealthView(server, known) };
}

export function toCheckView({ id, at, kind, way, reason, responseTimeMs }: LoggedCheck) {
  const time = new Date(at).toISOString();
  return { id, at: time, finding: kind, way, reason, response_time_ms: responseTimeMs };
}
