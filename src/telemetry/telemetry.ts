/**
 * Observes every request: a span with its children, counters and histograms, a log line, a data point for Analytics Engine. All of them are
 * produced when a request is over, by work that no answer waits for.
 *
 * A trace that the caller samples is kept. Of all others a share is kept, chosen by the trace id alone, so that all participants of a trace
 * decide alike. Of requests without a valid credential, which anybody can send, only a share is kept, and what failed here. Source: OpenTelemetry, `ParentBased` and `TraceIdRatioBased` samplers.
 */
import type { JsonObject } from '../shared/protocol.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';
import { safeWord } from '../tracing/safe-attributes.ts';
import type { SendTrace } from '../tracing/trace.ts';
import { randomHex } from '../tracing/trace-ids.ts';
import { parseTraceparent, parseTracestate } from '../tracing/traceparent.ts';
import { toDataPoint, type DataPoint } from './data-point.ts';
import type { Family } from './exposition.ts';
import { createEndedBatch } from './ended-batch.ts';
import { Operation, type EndedOperation, type OperationTrace, type Outcome } from './operation.ts';
import { RequestMetrics } from './request-metrics.ts';
import type { TelemetrySettings } from './telemetry-settings.ts';
import { toTrace } from './to-trace.ts';

export interface TelemetryPorts {
  settings: TelemetrySettings;
  /** Keeps or sends a trace; undefined where traces go nowhere. */
  send: SendTrace | undefined;
  /** Whether one process serves all requests. */
  isOneMachine: boolean;
  log(lines: readonly string[]): Promise<unknown>;
  /** Writes a data point to Analytics Engine; undefined where there is none. */
  point: ((point: DataPoint) => void) | undefined;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** The headers of a request. */
interface HeadersOf {
  get(name: string): string | null;
}

export class Telemetry {
  readonly #metrics = new RequestMetrics();
  readonly #ports: TelemetryPorts;
  /** Ended requests that are not yet in the metrics. */
  #uncounted: EndedOperation[] = [];
  readonly #onEnd: (ended: EndedOperation, waitUntil: WaitUntil) => void;

  constructor(ports: TelemetryPorts) {
    const { isOneMachine, wait, now } = ports;
    this.#ports = ports;
    const process = (ended: readonly EndedOperation[], waitUntil: WaitUntil) =>
      this.#process(ended, waitUntil);
    // On Workers each request logs for itself: `wrangler tail` shows only the lines that were logged while it was served.
    this.#onEnd = isOneMachine
      ? createEndedBatch({ process, charsOf, wait, now })
      : (ended, waitUntil) => void process([ended], waitUntil).catch(() => {});
  }

  /**
   * Starts observing a request. Call `release` when it is answered.
   * @param waitUntil runs work that outlives the answer
   */
  begin(waitUntil: WaitUntil, headers: HeadersOf): Operation {
    const { settings, send } = this.#ports;
    const isTracing = send !== undefined && settings.ratio > 0;
    const traceOf = (meta?: JsonObject) => (isTracing ? this.#traceOf(headers, meta) : undefined);
    const onEnd = (ended: EndedOperation) => this.#end(ended, waitUntil);
    return new Operation(onEnd, traceOf, isTracing && settings.keepsContent);
  }

  /**
   * Returns the metrics of all requests; none where many isolates serve them, because each knows only its own.
   * @param isShown whether the scraper may see a server; the empty name stands for requests without a server
   */
  families(isShown: (server: string) => boolean): Family[] {
    if (!this.#ports.isOneMachine) return [];
    this.#count();
    return this.#metrics.families(isShown);
  }

  #traceOf(headers: HeadersOf, meta: JsonObject | undefined): OperationTrace {
    const inMeta = meta?.['traceparent'];
    const ambient = parseTraceparent(headers.get('traceparent') ?? undefined);
    const own = typeof inMeta === 'string' ? parseTraceparent(inMeta) : undefined;
    const parent = own ?? ambient;
    const traceId = parent?.traceId ?? randomHex(16);
    const isSampled = (parent?.isSampled ?? false) || isWithin(traceId, this.#ports.settings.ratio);
    const state = parent && (own ? meta?.['tracestate'] : headers.get('tracestate'));
    return {
      traceId,
      spanId: randomHex(8),
      parentSpanId: parent?.spanId,
      isSampled,
      link: own && ambient && own.spanId !== ambient.spanId ? ambient : undefined,
      state: typeof state === 'string' ? parseTracestate(state) : undefined,
    };
  }

  #end(ended: EndedOperation, waitUntil: WaitUntil): void {
    if (this.#ports.isOneMachine) this.#uncounted.push(ended);
    this.#onEnd(ended, waitUntil);
  }

  /** Brings the metrics up to date. */
  #count(): void {
    const uncounted = this.#uncounted;
    this.#uncounted = [];
    for (const ended of uncounted) {
      this.#metrics.add(ended, this.#isKept(ended) && ended.trace !== undefined);
    }
  }

  async #process(all: readonly EndedOperation[], waitUntil: WaitUntil): Promise<void> {
    const { settings, send, log, point } = this.#ports;
    this.#count();
    const lines: string[] = [];
    for (const ended of all) {
      point?.(toDataPoint(ended));
      const line = toLogLine(ended, settings);
      if (line !== undefined) lines.push(line);
      const trace = this.#isKept(ended) ? toTrace(ended) : undefined;
      if (trace && send) waitUntil(send(trace).catch(() => {}));
    }
    if (lines.length > 0) await log(lines);
  }

  #isKept(ended: EndedOperation): boolean {
    const { ratio, slowMs } = this.#ports.settings;
    const { trace, principalId, outcome } = ended;
    if (principalId !== undefined) return trace?.isSampled === true || isRemarkable(ended, slowMs);
    // Strangers decide nothing, neither by a flag nor by the trace id that they send: the id of the span is ours.
    return outcome === 'failed' || (trace !== undefined && isWithin(trace.spanId, ratio));
  }
}

/** Characters of arguments and results, where these are kept. */
const charsOf = ({ arguments: given = '', result = '' }: EndedOperation): number =>
  given.length + result.length;

/** The last 56 bits of a trace id are random (W3C Trace Context Level 2). */
const RANDOM_DIGITS = 14;
const RANDOM_RANGE = 16 ** RANDOM_DIGITS;

/** Tells whether an id falls within a share of all ids. */
export const isWithin = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) < ratio * RANDOM_RANGE;

/** Tells whether an unsampled request is kept: it failed, here or at its server, or was slow. */
export function isRemarkable(
  { outcome, durationMs }: Pick<EndedOperation, 'outcome' | 'durationMs'>,
  slowMs: number,
): boolean {
  return (outcome !== 'ok' && outcome !== 'cancelled') || durationMs >= slowMs;
}

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

/** Members that come from a client or a server and are sanitised before they are written. */
const FOREIGN = ['method', 'request_id', 'tool', 'prompt', 'route'] as const;

/**
 * Formats a request as one log line, without the line feed: JSON without arguments, results or anything that looks like a secret. Undefined
 * where the settings exclude it.
 */
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
