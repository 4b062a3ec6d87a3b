/**
 * What findings make of a server's status, and what its health is called. Pure. Every step it decides on is legal
 * (`servers/registry/status.ts`); out of `DISCONNECTED` only an administrator leads.
 */
import type { ServerStatus } from '../registry/status.ts';
import type { FindingKind } from './finding.ts';

export const HEALTH_STATES = ['healthy', 'degraded', 'failing', 'auth_required', 'down'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** What is known of a server when its status is decided. */
export interface Known {
  status: ServerStatus;
  /** It was discovered: there is a catalog to offer. */
  isDiscovered: boolean;
  finding: FindingKind;
  /** Failed checks in a row, this one included. */
  failures: number;
  /** Failed checks in a row that make an ERROR. */
  threshold: number;
  /** More of its calls fail than may, or one of its lists cannot be read. */
  isImpaired: boolean;
}

/**
 * The status after a check. A server that never answered is ERROR at once; one that was there becomes it at the threshold. A
 * challenge to authenticate degrades and never counts as a failure.
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

/** @param status what the finding made of it */
export function decideState(
  status: ServerStatus,
  finding: FindingKind,
  isImpaired: boolean,
): HealthState {
  if (finding === 'auth_required') return 'auth_required';
  if (finding === 'failed') return status === 'ERROR' ? 'down' : 'failing';
  return isImpaired ? 'degraded' : 'healthy';
}
