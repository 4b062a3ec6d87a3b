/**
 * Judges a server's definitions by its approvals: which are admitted, and what the approvals become. Pure.
 *
 * Invariants: only approved definitions are admitted, approved by an administrator or by the server's approval mode. A mode never approves
 * what was rejected, and only `trust` approves a misleading name. A name misleads if it deceives the eye, or if it is the whole qualified
 * name of an approved tool of another server; another style, or a name that another server has too, does not mislead. Judging the same
 * input twice changes nothing the second time.
 */
import {
  WAITING,
  type ApprovalRecord,
  type ApprovalState,
  type Reason,
  type ToolApproval,
} from '../registry/approval.ts';
import type { Definition } from './definition.ts';
import { ConfusableNames } from './confusable-names.ts';
import { isDisguised } from './skeleton.ts';

/** An approved tool of another server whose name does not mislead. */
export interface Neighbour {
  serverId: string;
  name: string;
  skeleton: string;
}

export interface Case {
  serverId: string;
  definitions: readonly Definition[];
  approvals: readonly ApprovalRecord[];
  /** Approved tools of other servers with the skeletons of the definitions that are not approved. */
  neighbours: readonly Neighbour[];
  /** Approved tools of other servers, by the id of the definition whose own name is their qualified name. */
  copied: ReadonlyMap<string, Neighbour>;
  toolApproval: ToolApproval;
  /** Nothing of this server was judged before. */
  isFirst: boolean;
}

/** New values of an approval; of the texts, only those that may be new. */
export interface ApprovalChange extends Omit<ApprovalRecord, 'firstSeenAt' | 'changedAt'> {
  approvedText: string | null;
  heldText: string | null;
}

export interface Judgement {
  /** Ids of the definitions that may be offered. */
  admitted: ReadonlySet<string>;
  changes: ApprovalChange[];
  /** Ids of approvals that hold no decision any more. */
  forgotten: string[];
  /** Number of tools that wait for a decision. */
  heldTools: number;
}

/** Maximum number of remembered approvals of removed tools; the oldest are forgotten. */
const MAX_REMOVED = 1_000;
/** Longest name in a reason, in characters. */
const MAX_REASON_CHARS = 200;

export function judge(given: Case): Judgement {
  const approvals = new Map(given.approvals.map(approval => [approval.id, approval]));
  const findReason = createReasons(given);
  const next = plainestFirst(given.definitions).map(definition =>
    judgeOne(definition, approvals.get(definition.id), given, findReason),
  );
  const there = new Set(next.map(({ id }) => id));
  const gone = given.approvals.filter(({ id }) => !there.has(id)).map(toRemoved);
  const remembered = gone
    .filter(
      approval => approval.approvedFingerprint !== null || approval.rejectedFingerprint !== null,
    )
    .toSorted((one, other) => other.changedAt - one.changedAt)
    .slice(0, MAX_REMOVED);
  const kept = new Set(remembered.map(({ id }) => id));
  const removed = remembered.map(approval => ({ ...approval, approvedText: null, heldText: null }));
  return {
    admitted: new Set(next.filter(({ state }) => state === 'approved').map(({ id }) => id)),
    changes: [...next, ...removed].filter(change => isChanged(approvals.get(change.id), change)),
    forgotten: gone.filter(({ id }) => !kept.has(id)).map(({ id }) => id),
    heldTools: next.filter(({ kind, state }) => kind === 'tool' && WAITING.includes(state)).length,
  };
}

function judgeOne(
  definition: Definition,
  approval: ApprovalRecord | undefined,
  { toolApproval, isFirst }: Case,
  findReason: (definition: Definition, approval: ApprovalRecord | undefined) => Reason | null,
): ApprovalChange {
  const { id, kind, name, skeleton, fingerprint, text } = definition;
  const approved = approval?.approvedFingerprint ?? null;
  const reason = findReason(definition, approval);
  const rejected = approval?.rejectedFingerprint ?? null;
  const base = { id, kind, name, skeleton, rejectedFingerprint: rejected };
  const isApproved =
    fingerprint === approved ||
    (fingerprint !== rejected &&
      (toolApproval === 'trust' || (toolApproval === 'first' && isFirst && reason === null)));
  if (isApproved) {
    return {
      ...base,
      state: 'approved',
      approvedFingerprint: fingerprint,
      approvedText: text,
      heldFingerprint: null,
      heldText: null,
      reason,
    };
  }
  return {
    ...base,
    state: heldState(fingerprint === rejected, approved !== null, reason),
    approvedFingerprint: approved,
    approvedText: null,
    heldFingerprint: fingerprint,
    heldText: text,
    reason,
  };
}

function heldState(
  isRejected: boolean,
  wasApproved: boolean,
  reason: Reason | null,
): ApprovalState {
  if (isRejected) return 'rejected';
  if (wasApproved) return 'changed';
  return reason === null ? 'pending' : 'quarantined';
}

/** An approval whose definition is gone keeps its decisions, and why its name misleads if it was approved anyway. */
const toRemoved = (approval: ApprovalRecord): ApprovalRecord => ({
  ...approval,
  state: 'removed',
  heldFingerprint: null,
  reason: approval.approvedFingerprint === null ? null : approval.reason,
});

/**
 * Finds why names mislead, in the order of the definitions: of two new names that look alike, the plainer comes first, and the other
 * misleads. If a misleading name is approved anyway, its reason stays recorded.
 */
function createReasons({ serverId, approvals, neighbours, copied }: Case) {
  const known = new ConfusableNames<{ serverId: string; name: string }>();
  for (const { kind, approvedFingerprint, reason, name } of approvals) {
    // A misleading name that was approved counts for itself only; honest names are not compared with it.
    const isHonest = kind === 'tool' && approvedFingerprint !== null && reason === null;
    if (isHonest) known.add(name, { serverId, name });
  }
  for (const neighbour of neighbours) known.add(neighbour.name, neighbour);
  return ({ id, kind, name }: Definition, approval: ApprovalRecord | undefined): Reason | null => {
    if (kind !== 'tool') return null;
    if (approval && approval.approvedFingerprint !== null) return approval.reason;
    const like = known.find(name) ?? copied.get(id);
    if (like) {
      const shown = like.name.slice(0, MAX_REASON_CHARS);
      return { kind: 'look_alike', serverId: like.serverId, name: shown };
    }
    if (isDisguised(name)) return { kind: 'hidden_characters' };
    known.add(name, { serverId, name });
    return null;
  };
}

const IS_ASCII = /^[\0-\x7f]*$/;

/** Orders undisguised ASCII names first, and otherwise keeps the server's order. */
function plainestFirst(definitions: readonly Definition[]): Definition[] {
  const [plain, other] = [true, false].map(wanted =>
    definitions.filter(({ name }) => (IS_ASCII.test(name) && !isDisguised(name)) === wanted),
  );
  return [...(plain ?? []), ...(other ?? [])];
}

function isChanged(approval: ApprovalRecord | undefined, change: ApprovalChange): boolean {
  return (
    approval?.state !== change.state ||
    approval.approvedFingerprint !== change.approvedFingerprint ||
    approval.heldFingerprint !== change.heldFingerprint ||
    JSON.stringify(approval.reason) !== JSON.stringify(change.reason)
  );
}
