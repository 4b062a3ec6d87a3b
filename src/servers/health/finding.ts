/**
 * The result of one check of a server. Pure. An authentication challenge is a kind of its own: the server responds, but its credential
 * needs attention.
 */
import type { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';

export const FINDING_KINDS = ['good', 'failed', 'auth_required'] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/**
 * How the finding was made. `url`: from the health address. `message`: from a good message since the last check. `ping`: by a light message
 * sent for this purpose. `look`: by a discovery.
 */
export const CHECK_WAYS = ['url', 'message', 'ping', 'look'] as const;
export type CheckWay = (typeof CHECK_WAYS)[number];

export interface Finding {
  kind: FindingKind;
  way: CheckWay;
  /** Error code; null if the server is well. */
  reason: ErrorCode | null;
  /** One line for people, without addresses or secrets; null if the server is well. */
  detail: string | null;
  /** Null if no request was sent. */
  responseTimeMs: number | null;
}

const CHALLENGES: ReadonlySet<ErrorCode> = new Set(['upstream_auth', 'upstream_scope']);

/** Whether an error means that a server wants another credential. */
export function isChallenge(code: ErrorCode): boolean {
  return CHALLENGES.has(code);
}

export function goodFinding(way: CheckWay, responseTimeMs: number | null): Finding {
  return { kind: 'good', way, reason: null, detail: null, responseTimeMs };
}

export function toFinding(
  way: CheckWay,
  { code, message }: PorticoError,
  responseTimeMs: number | null,
): Finding {
  const kind = isChallenge(code) ? 'auth_required' : 'failed';
  return { kind, way, reason: code, detail: `${code}: ${message}`, responseTimeMs };
}

const RANK: Record<FindingKind, number> = { good: 0, auth_required: 1, failed: 2 };

/** The decisive finding of a check cycle; the first of equal ones. */
export function decisive(findings: readonly Finding[]): Finding | undefined {
  return findings.toSorted((a, b) => RANK[b.kind] - RANK[a.kind])[0];
}
