/** The last word on the health of a server, as it is kept beside the registry. */
import type { ServerStatus } from '../registry/status.ts';
import type { HealthState } from './next-status.ts';
import { isSameCount, REPEAT_MS } from './remembered.ts';

export interface ServerHealth {
  serverId: string;
  /** The server's when it was checked: of an older one nothing is said any more. */
  generation: number;
  state: HealthState;
  /** Error code; null where all is well. */
  reason: string | null;
  checkedAt: number;
  responseTimeMs: number | null;
  /** Share of failed calls in the last minutes; null where there were none. */
  errorRate: number | null;
  consecutiveFailures: number;
  lastGoodAt: number | null;
  /** Calls and failed ones since the server was registered. */
  callsTotal: number;
  errorsTotal: number;
}

/** A server, by name, with what is known of its health. */
export interface MeasuredServer {
  id: string;
  name: string;
  status: ServerStatus;
  generation: number;
  circuitRetryAt: number | null;
  /** Tools that wait for an approval. */
  heldTools: number;
  health: ServerHealth | undefined;
}

/** Whether what is shown says something else than before, or was written long ago. */
export const isNewToShow = (before: ServerHealth | undefined, now: ServerHealth): boolean =>
  before?.generation !== now.generation ||
  before.state !== now.state ||
  before.reason !== now.reason ||
  before.errorRate !== now.errorRate ||
  before.callsTotal !== now.callsTotal ||
  before.errorsTotal !== now.errorsTotal ||
  !isSameCount(before.consecutiveFailures, now.consecutiveFailures) ||
  now.checkedAt - before.checkedAt >= REPEAT_MS;
