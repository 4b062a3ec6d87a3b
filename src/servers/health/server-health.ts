/** The last known health of a server, as stored beside the registry. */
import type { ServerStatus } from '../registry/status.ts';
import type { HealthState } from './next-status.ts';
import { isSameCount, REPEAT_MS } from './remembered.ts';

export interface ServerHealth {
  serverId: string;
  /** The server's generation at the check; health of an older generation is not shown. */
  generation: number;
  state: HealthState;
  /** Error code; null if the server is well. */
  reason: string | null;
  checkedAt: number;
  responseTimeMs: number | null;
  /** Share of failed calls in the last five minutes; null if there were no calls. */
  errorRate: number | null;
  consecutiveFailures: number;
  lastGoodAt: number | null;
  /** Calls and failed calls since the server was registered. */
  callsTotal: number;
  errorsTotal: number;
}

/** A server by name, with its health. */
export interface MeasuredServer {
  id: string;
  name: string;
  status: ServerStatus;
  generation: number;
  circuitRetryAt: number | null;
  /** Number of tools that wait for an approval. */
  heldTools: number;
  health: ServerHealth | undefined;
}

/** Whether the stored row differs from the new value or is too old. */
export const isNewToShow = (before: ServerHealth | undefined, now: ServerHealth): boolean =>
  before?.generation !== now.generation ||
  before.state !== now.state ||
  before.reason !== now.reason ||
  before.errorRate !== now.errorRate ||
  before.callsTotal !== now.callsTotal ||
  before.errorsTotal !== now.errorsTotal ||
  !isSameCount(before.consecutiveFailures, now.consecutiveFailures) ||
  now.checkedAt - before.checkedAt >= REPEAT_MS;
