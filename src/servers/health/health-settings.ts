/** The health settings of a server: its own override the deployment's. Pure. */
import type { HealthSettings } from '../registry/server-schema.ts';

/** Intervals of a recurring task at a server, in milliseconds. */
export interface Pace {
  /** Interval while the server is active. */
  readonly intervalMs: number;
  /** Longest interval while it is quiet; equal to `intervalMs` if an interval was set explicitly. */
  readonly quietMs: number;
}

export interface HealthDefaults extends Pace {
  /** Failed checks in a row that make the status ERROR. */
  readonly failureThreshold: number;
  /** Share of failed calls that makes the status DEGRADED. */
  readonly degradedErrorRate: number;
}

/** Returns the settings of one server. */
export function settingsOf(own: HealthSettings, defaults: HealthDefaults): HealthDefaults {
  const { interval_seconds: seconds, failure_threshold: threshold } = own;
  const { intervalMs, quietMs } = defaults;
  return {
    intervalMs: seconds === undefined ? intervalMs : seconds * 1_000,
    quietMs: seconds === undefined ? quietMs : seconds * 1_000,
    failureThreshold: threshold ?? defaults.failureThreshold,
    degradedErrorRate: own.degraded_error_rate ?? defaults.degradedErrorRate,
  };
}
