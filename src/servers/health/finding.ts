/**
 * What one check of a server found. Pure. A challenge to authenticate is a finding of its own: the server is there, and its
 * credential is what has to be looked after.
 */
import type { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';

export const FINDING_KINDS = ['good', 'failed', 'auth_required'] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/**
 * How it was found: by the health address, from a good message since the last check, by a light message sent for the purpose,
 * or by a look at the server's lists.
 */
export const CHECK_WAYS = ['url', 'message', 'ping', 'look'] as const;
export type CheckWay = (typeof CHECK_WAYS)[number];

export interface Finding {
  kind: FindingKind;
  way: CheckWay;
  /** Error code; null where all is well. */
  reason: ErrorCode | null;
  /** One line for people, without addresses or secrets; null where all is well. */
  detail: string | null;
  /** Null where nothing was sent. */
  responseTimeMs: number | null;
}

const CHALLENGES: ReadonlySet<ErrorCode> = new Set(['upstream_auth', 'upstream_scope']);

/** Whether an error says that a server wants another credential. */
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

/** The finding that decides where one round has several; of equal ones the first. */
export function decisive(findings: readonly Finding[]): Finding | undefined {
  return findings.toSorted((a, b) => RANK[b.kind] - RANK[a.kind])[0];
}
