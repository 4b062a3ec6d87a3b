/**
 * Where traces go: to a collector as OTLP over HTTP, to a folder of the local host as NDJSON, to both or to neither. A
 * failure of one does not affect the other.
 */
import type { OtlpBatch } from './otlp-batch.ts';
import { toNdjson } from './to-ndjson.ts';
import type { FinishedTrace, SendTrace } from './trace.ts';

/** Timeout for writing one trace, in milliseconds. */
const TIMEOUT_MS = 10_000;

export interface TraceTransportOptions {
  /** The batch for the collector, if there is one. */
  batch: Pick<OtlpBatch, 'add'> | undefined;
  /** The local host's folder: takes `PUT /{started}-{trace id}`. */
  folder: { fetch(url: string, init: RequestInit): Promise<Response> } | undefined;
}

/** Returns undefined if traces go nowhere. */
export function createTraceTransport(options: TraceTransportOptions): SendTrace | undefined {
  const { batch, folder } = options;
  if (batch === undefined && folder === undefined) return undefined;
  return async trace => {
    await Promise.allSettled([batch?.add(trace), folder && putNdjson(folder, trace)]);
  };
}

async function putNdjson(
  folder: NonNullable<TraceTransportOptions['folder']>,
  trace: FinishedTrace,
): Promise<void> {
  const started = new Date(trace.spans[0]?.startedAt ?? trace.endedAt).toISOString();
  // Some systems do not allow a colon in file names.
  const name = `${started.replaceAll(':', '-')}-${trace.traceId}`;
  const init = { method: 'PUT', body: toNdjson(trace), signal: AbortSignal.timeout(TIMEOUT_MS) };
  await drop(await folder.fetch(`https://traces.invalid/${name}`, init));
}

/** Discards a response body, which is not used. */
const drop = (response: Response): Promise<void> | undefined => response.body?.cancel();
