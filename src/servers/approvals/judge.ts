/**
 * Judges what a server offers by its approvals: what of it is admitted, and how the approvals are after that. Pure.
 *
 * Invariants: nothing is admitted but what was approved, by an administrator or by the server's own rule; what was rejected is never
 * approved by a rule; a name that misleads is approved by a rule of trust only. A name misleads where it deceives the eye, or is the whole
 * qualified name of an approved tool of another server; a style, or a name that another server has too, does not. What is judged twice changes nothing the second time.
 */
import {
  WAITING,
  type ApprovalRecord,
  type ApprovalState,
  type Reason,
  type ToolApproval,
} from '../registry/approval.ts';
import type { Definition } from './definition.ts';
import { LookAlikes } from './confusable-names.ts';
import { isDisguised } from './skeleton.ts';

/** An approved tool elsewhere whose name does not mislead. */
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
  /** Approved tools of other servers by the id of the definition that has their qualified name for its own. */
  copied: ReadonlyMap<string, Neighbour>;
  toolApproval: ToolApproval;
  /** Nothing of this server was judged before. */
  isFirst: boolean;
}

/** How an approval is to be; of texts those that may be new. */
export interface ApprovalChange extends Omit<ApprovalRecord, 'firstSeenAt' | 'changedAt'> {
  approvedText: string | null;
  heldText: string | null;
}

export interface Judgement {
  /** Ids of what may be offered. */
  admitted: ReadonlySet<string>;
  changes: ApprovalChange[];
  /** Ids of approvals that say nothing any more. */
  forgotten: string[];
  /** Tools that wait for a decision. */
  heldTools: number;
}

/** Most approvals of tools that are gone; the oldest are forgotten. */
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

/** Gone approvals keep what was decided of them. */
const toRemoved = (approval: ApprovalRecord): ApprovalRecord => ({
  ...approval,
  state: 'removed',
  heldFingerprint: null,
  reason: null,
});

/**
 * Why a name misleads, in the order of the definitions: of two that look alike the plainer one is what the other looks like. Where it
 * is approved all the same, the reason stays noted.
 */
function createReasons({ serverId, approvals, neighbours, copied }: Case) {
  const known = new LookAlikes<{ serverId: string; name: string }>();
  for (const { kind, approvedFingerprint, reason, name } of approvals) {
    // What misleads is approved for itself; honest names are not measured by it.
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

/** Names of ASCII first, in the server's order otherwise. */
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
