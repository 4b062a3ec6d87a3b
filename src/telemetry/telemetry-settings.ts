/** The settings of a deployment that say which requests are traced, and what its log says of them. */
import { z } from 'zod';

export interface TelemetrySettings {
  /** Share of requests that are traced, from 0 to 1; where it is 0, none is, however it ends. */
  readonly ratio: number;
  /** A request that takes so long is kept whatever the ratio is, in milliseconds. */
  readonly slowMs: number;
  /** Arguments and results stand in spans, redacted. */
  readonly keepsContent: boolean;
  /** Which requests have a line in the log. */
  readonly log: 'all' | 'errors' | 'off';
}

/** The members of the settings' schema. */
export const TELEMETRY_SETTINGS = {
  PORTICO_TRACE_RATIO: z.coerce.number().min(0).max(1).optional(),
  PORTICO_TRACE_SLOW_MS: z.coerce.number().int().min(1).max(86_400_000).default(2_000),
  PORTICO_TRACE_CONTENT: z.enum(['on', 'off']).default('off'),
  PORTICO_LOG: z.enum(['all', 'errors', 'off']).default('all'),
};
const SettingsSchema = z.object(TELEMETRY_SETTINGS);

/** The ratio of a deployment that has a collector and says nothing. */
const USUAL_RATIO = 0.1;

/** @param hasCollector whether traces are sent anywhere */
export const toTelemetrySettings = (
  settings: z.infer<typeof SettingsSchema>,
  hasCollector: boolean,
): TelemetrySettings => ({
  ratio: settings.PORTICO_TRACE_RATIO ?? (hasCollector ? USUAL_RATIO : 0),
  slowMs: settings.PORTICO_TRACE_SLOW_MS,
  keepsContent: settings.PORTICO_TRACE_CONTENT === 'on',
  log: settings.PORTICO_LOG,
});
