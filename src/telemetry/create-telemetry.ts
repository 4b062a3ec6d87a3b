/** Builds a deployment's telemetry: the tracer for asks and chats, and the observation of every request. */
import { createTracer } from '../tracing/create-tracer.ts';
import { OtlpBatch } from '../tracing/otlp-batch.ts';
import type { OtlpSettings } from '../tracing/otlp-settings.ts';
import { createTraceTransport, type TraceTransportOptions } from '../tracing/trace-transport.ts';
import type { DataPoint } from './data-point.ts';
import { Telemetry, type TelemetryPorts } from './telemetry.ts';
import type { TelemetrySettings } from './telemetry-settings.ts';

export interface TelemetryDeps {
  settings: TelemetrySettings;
  /** Where traces are sent; undefined where no collector is configured. */
  otlp: OtlpSettings | undefined;
  /** The local host's folder of traces. */
  folder: TraceTransportOptions['folder'];
  /** The local host's log; accepts lines with `PUT`. */
  lines: TraceTransportOptions['folder'];
  /** Analytics Engine, where the deployment has it. */
  dataset: { writeDataPoint(point: DataPoint): void } | undefined;
  /** Whether one process serves all requests. */
  isOneMachine: boolean;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

export function createTelemetry(deps: TelemetryDeps) {
  const { settings, otlp, folder, dataset, isOneMachine, wait, now } = deps;
  const batch = otlp && new OtlpBatch({ otlp, wait, now });
  const tracer = createTracer(createTraceTransport({ batch, folder }), now);
  const telemetry = new Telemetry({
    settings,
    isOneMachine,
    // Not to the folder if there is a collector: the folder is for reading traces one by one and has room for a thousand.
    send: createTraceTransport({ batch, folder: batch ? undefined : folder }),
    log: toLog(deps),
    point: dataset && (point => dataset.writeDataPoint(point)),
    wait,
    now,
  });
  return { tracer, telemetry };
}

/** Writes log lines: to the local host in one request, else to the console, for `wrangler tail`. */
export function toLog({ lines }: Pick<TelemetryDeps, 'lines'>): TelemetryPorts['log'] {
  return async texts => {
    // oxlint-disable-next-line no-console
    if (!lines) return texts.forEach(text => console.log(text));
    const body = `${texts.join('\n')}\n`;
    return (await lines.fetch('https://log.invalid/', { method: 'PUT', body })).body?.cancel();
  };
}
