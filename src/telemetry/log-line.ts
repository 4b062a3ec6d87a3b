/** A request that is over as one line of the log: JSON, no argument, no result, nothing that looks like a secret. Pure. */
import { safeWord } from '../tracing/safe-attributes.ts';
import type { EndedOperation, Outcome } from './operation.ts';
import type { TelemetrySettings } from './telemetry-settings.ts';

type Level = 'info' | 'warn' | 'error';

const LEVELS: Record<Outcome, Level> = {
  ok: 'info',
  cancelled: 'info',
  tool_error: 'warn',
  rpc_error: 'warn',
  denied: 'warn',
  invalid: 'warn',
  failed: 'error',
};

/** What of a line comes from a client or a server, and so is looked at before it is written. */
const FOREIGN = ['method', 'request_id', 'tool', 'prompt', 'route'] as const;

/** The line of a request, without its line feed; undefined where the settings want none. */
export function toLogLine(
  operation: EndedOperation,
  { log }: Pick<TelemetrySettings, 'log'>,
): string | undefined {
  const level = LEVELS[operation.outcome];
  if (log === 'off' || (log === 'errors' && level === 'info')) return undefined;
  const { startedAt, durationMs, upstreamMs, trace, sendings } = operation;
  const line: Record<string, string | number | boolean | undefined> = {
    time: new Date(startedAt).toISOString(),
    level,
    source: operation.source,
    method: operation.method,
    route: operation.route,
    outcome: operation.outcome,
    code: operation.code,
    status: operation.status,
    duration_ms: round(durationMs),
    upstream_ms: sendings.length === 0 ? undefined : round(upstreamMs),
    server: operation.server,
    tool: operation.tool,
    prompt: operation.prompt,
    cached: operation.isHit,
    era: operation.era,
    principal_id: operation.principalId,
    token_id: operation.tokenId,
    session_id: operation.sessionId,
    request_id: operation.requestId,
    trace_id: trace?.traceId,
  };
  for (const key of FOREIGN) {
    const text = line[key];
    if (typeof text === 'string') line[key] = safeWord(text);
  }
  return JSON.stringify(line);
}

const round = (milliseconds: number) => Math.round(milliseconds * 100) / 100;
