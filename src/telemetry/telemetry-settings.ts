/** The deployment's settings for which requests are traced and logged. */
import { z } from 'zod';

export type TelemetrySettings = ReturnType<typeof toTelemetrySettings>;

/** The telemetry members of the settings schema. */
export const TELEMETRY_SETTINGS = {
  PORTICO_TRACE_RATIO: z.coerce.number().min(0).max(1).optional(),
  PORTICO_TRACE_SLOW_MS: z.coerce.number().int().min(1).max(86_400_000).default(2_000),
  PORTICO_TRACE_CONTENT: z.enum(['on', 'off']).default('off'),
  PORTICO_LOG: z.enum(['all', 'errors', 'off']).default('all'),
};
const SettingsSchema = z.object(TELEMETRY_SETTINGS);

/** Default ratio of a deployment with a collector. */
const USUAL_RATIO = 0.1;

/** @param hasCollector whether traces are sent anywhere */
export const toTelemetrySettings = (
  settings: z.infer<typeof SettingsSchema>,
  hasCollector: boolean,
) => ({
  /** Share of requests that are traced, from 0 to 1; at 0 none is, however it ends. */
  ratio: settings.PORTICO_TRACE_RATIO ?? (hasCollector ? USUAL_RATIO : 0),
  /** A request that takes this long is kept whatever the ratio, in milliseconds. */
  slowMs: settings.PORTICO_TRACE_SLOW_MS,
  /** Whether spans contain arguments and results, redacted. */
  keepsContent: settings.PORTICO_TRACE_CONTENT === 'on',
  /** Which requests are logged. */
  log: settings.PORTICO_LOG,
});
