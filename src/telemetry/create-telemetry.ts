/** The telemetry of a deployment: traces of asks and chats, and what is seen of every request. */
import { createTracer } from '../tracing/create-tracer.ts';
import { OtlpBatch } from '../tracing/otlp-batch.ts';
import type { OtlpSettings } from '../tracing/otlp-settings.ts';
import { createTraceTransport, type TraceTransportOptions } from '../tracing/trace-transport.ts';
import type { DataPoint } from './data-point.ts';
import { Telemetry, type TelemetryPorts } from './telemetry.ts';
import type { TelemetrySettings } from './telemetry-settings.ts';

export interface TelemetryDeps {
  settings: TelemetrySettings;
  /** Where traces are sent; undefined where nowhere. */
  otlp: OtlpSettings | undefined;
  /** The local host's folder of traces. */
  folder: TraceTransportOptions['folder'];
  /** The local host's log: takes lines with `PUT`. */
  lines: TraceTransportOptions['folder'];
  /** Analytics Engine, where the deployment has it. */
  dataset: { writeDataPoint(point: DataPoint): void } | undefined;
  /** One process serves all requests. */
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
    // The folder is for what is read one by one: it has room for a thousand.
    send: createTraceTransport({ batch, folder: batch ? undefined : folder }),
    log: toLog(deps),
    point: dataset && (point => dataset.writeDataPoint(point)),
    wait,
    now,
  });
  return { tracer, telemetry };
}

/** Where lines of the log go: to the local host together, else to what `wrangler tail` hears. */
function toLog({ lines }: TelemetryDeps): TelemetryPorts['log'] {
  return async texts => {
    // oxlint-disable-next-line no-console
    if (!lines) return texts.forEach(text => console.log(text));
    const body = `${texts.join('\n')}\n`;
    return (await lines.fetch('https://log.invalid/', { method: 'PUT', body })).body?.cancel();
  };
}
