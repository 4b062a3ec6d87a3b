/** How the health of a server is judged: its own settings over the deployment's. Pure. */
import type { HealthSettings } from '../registry/server-schema.ts';

export interface HealthDefaults {
  /** Time between two checks, in milliseconds. */
  readonly intervalMs: number;
  /** Failed checks in a row that make an ERROR. */
  readonly failureThreshold: number;
  /** Share of failed calls that makes a server DEGRADED. */
  readonly degradedErrorRate: number;
}

/** The settings of one server. */
export function settingsOf(own: HealthSettings, defaults: HealthDefaults): HealthDefaults {
  const { interval_seconds: seconds, failure_threshold: threshold } = own;
  return {
    intervalMs: seconds === undefined ? defaults.intervalMs : seconds * 1_000,
    failureThreshold: threshold ?? defaults.failureThreshold,
    degradedErrorRate: own.degraded_error_rate ?? defaults.degradedErrorRate,
  };
}
