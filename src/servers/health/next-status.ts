/**
 * Derives a server's status and health state from findings. Pure. Every step it decides on is legal (`servers/registry/status.ts`); only an
 * administrator leads out of `DISCONNECTED`.
 */
import type { ServerStatus } from '../registry/status.ts';
import type { FindingKind } from './finding.ts';

export const HEALTH_STATES = ['healthy', 'degraded', 'failing', 'auth_required', 'down'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** Inputs to the decision on a server's status. */
export interface Known {
  status: ServerStatus;
  /** It was discovered, so there is a catalog to offer. */
  isDiscovered: boolean;
  finding: FindingKind;
  /** Failed checks in a row, this one included. */
  failures: number;
  /** Failed checks in a row that make the status ERROR. */
  threshold: number;
  /** Its calls fail too often, or one of its lists cannot be read. */
  isImpaired: boolean;
}

/**
 * Returns the status after a check. A server that never responded becomes ERROR at once; one that was connected becomes ERROR at the
 * threshold. An authentication challenge degrades it and never counts as a failure.
 */
export function decideStatus(known: Known): ServerStatus {
  const { status, isDiscovered, finding, failures, threshold, isImpaired } = known;
  if (status === 'DISCONNECTED') return status;
  if (finding === 'auth_required') return 'DEGRADED';
  if (finding === 'failed') {
    const wasThere = status === 'CONNECTED' || status === 'DEGRADED';
    if (!wasThere || !isDiscovered || failures >= threshold) return 'ERROR';
    return isImpaired ? 'DEGRADED' : status;
  }
  if (!isDiscovered) return status;
  return isImpaired ? 'DEGRADED' : 'CONNECTED';
}

/** @param status as decided from the finding */
export function decideState(
  status: ServerStatus,
  finding: FindingKind,
  isImpaired: boolean,
): HealthState {
  if (finding === 'auth_required') return 'auth_required';
  if (finding === 'failed') return status === 'ERROR' ? 'down' : 'failing';
  return isImpaired ? 'degraded' : 'healthy';
}
