/**
 * Where traces go: to a collector as OTLP over HTTP, to a folder of the local host as NDJSON, to both or to neither. Each is bounded in
 * time, no redirect is followed, and what one of them does is nothing to the other.
 *
 * Source: opentelemetry-proto, docs/specification.md, "OTLP/HTTP": what may be sent again (429, 502, 503, 504) is, once.
 */
import type { OtlpSettings } from './otlp-settings.ts';
import { toNdjson } from './to-ndjson.ts';
import { toOtlp } from './to-otlp.ts';
import type { FinishedTrace, SendTrace } from './trace.ts';

/** Longest time of handing on one trace, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Wait before the second attempt, and the longest wait that a collector is believed, in milliseconds. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 4_000;
const RETRYABLE = new Set([429, 502, 503, 504]);

export interface TraceTransportOptions {
  otlp: OtlpSettings | undefined;
  /** The local host's folder: takes `PUT /{started}-{trace id}`. */
  folder: { fetch(url: string, init: RequestInit): Promise<Response> } | undefined;
  wait(ms: number): Promise<unknown>;
}

/** Undefined where traces go nowhere. */
export function createTraceTransport(options: TraceTransportOptions): SendTrace | undefined {
  const { otlp, folder, wait } = options;
  if (otlp === undefined && folder === undefined) return undefined;
  return async trace => {
    await Promise.allSettled([
      otlp && postOtlp(otlp, trace, wait),
      folder && putNdjson(folder, trace),
    ]);
  };
}

async function postOtlp(
  { url, headers }: OtlpSettings,
  trace: FinishedTrace,
  wait: TraceTransportOptions['wait'],
): Promise<void> {
  const init: RequestInit = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(toOtlp(trace)),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  };
  const response = await fetch(url, init);
  await drop(response);
  if (!RETRYABLE.has(response.status)) return;
  await wait(toRetryMs(response.headers));
  await drop(await fetch(url, init));
}

/** `Retry-After` in seconds; a date is not read. */
function toRetryMs(headers: Headers): number {
  const seconds = /^\d{1,6}$/.exec(headers.get('retry-after') ?? '')?.[0];
  return seconds === undefined ? RETRY_MS : Math.min(Number(seconds) * 1_000, MAX_RETRY_MS);
}

async function putNdjson(
  folder: NonNullable<TraceTransportOptions['folder']>,
  trace: FinishedTrace,
): Promise<void> {
  const started = new Date(trace.spans[0]?.startedAt ?? trace.endedAt).toISOString();
  // A colon is no character of a file's name everywhere.
  const name = `${started.replaceAll(':', '-')}-${trace.traceId}`;
  const init = { method: 'PUT', body: toNdjson(trace), signal: AbortSignal.timeout(TIMEOUT_MS) };
  await drop(await folder.fetch(`https://traces.invalid/${name}`, init));
}

/** What it answers is of no use. */
const drop = (response: Response): Promise<void> | undefined => response.body?.cancel();
