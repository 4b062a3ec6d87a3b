/** How the health of a server is judged: its own settings over the deployment's. Pure. */
import type { HealthSettings } from '../registry/server-schema.ts';

/** How often something is done at a server, in milliseconds. */
export interface Pace {
  /** From one time to the next while things happen at it. */
  readonly intervalMs: number;
  /** The longest time where nothing does; the interval itself where somebody set that. */
  readonly quietMs: number;
}

export interface HealthDefaults extends Pace {
  /** Failed checks in a row that make an ERROR. */
  readonly failureThreshold: number;
  /** Share of failed calls that makes a server DEGRADED. */
  readonly degradedErrorRate: number;
}

/** The settings of one server. */
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
