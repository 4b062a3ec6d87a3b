/**
 * Judges what a server offers by its pins: what of it is admitted, and how the pins are after that. Pure.
 *
 * Invariants: nothing is admitted but what was approved, by an administrator or by the server's own rule; what was rejected is never
 * approved by a rule; a name that misleads is approved by a rule of trust only. A name misleads where it deceives the eye, or is the whole
 * qualified name of an approved tool of another server; a style, or a name that another server has too, does not. What is judged twice changes nothing the second time.
 */
import {
  WAITING,
  type Pin,
  type PinState,
  type Reason,
  type ToolApproval,
} from '../registry/fingerprint.ts';
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
  pins: readonly Pin[];
  /** Approved tools of other servers with the skeletons of the definitions that are not approved. */
  neighbours: readonly Neighbour[];
  /** Approved tools of other servers by the id of the definition that has their qualified name for its own. */
  copied: ReadonlyMap<string, Neighbour>;
  approval: ToolApproval;
  /** Nothing of this server was judged before. */
  isFirst: boolean;
}

/** How a pin is to be; of texts those that may be new. */
export interface PinChange extends Omit<Pin, 'firstSeenAt' | 'changedAt'> {
  approvedText: string | null;
  heldText: string | null;
}

export interface Judgement {
  /** Ids of what may be offered. */
  admitted: ReadonlySet<string>;
  changes: PinChange[];
  /** Ids of pins that say nothing any more. */
  forgotten: string[];
  /** Tools that wait for a decision. */
  heldTools: number;
}

/** Most pins of tools that are gone; the oldest are forgotten. */
const MAX_REMOVED = 1_000;
/** Longest name in a reason, in characters. */
const MAX_REASON_CHARS = 200;

export function judge(given: Case): Judgement {
  const pins = new Map(given.pins.map(pin => [pin.id, pin]));
  const findReason = createReasons(given);
  const next = plainestFirst(given.definitions).map(definition =>
    judgeOne(definition, pins.get(definition.id), given, findReason),
  );
  const there = new Set(next.map(({ id }) => id));
  const gone = given.pins.filter(({ id }) => !there.has(id)).map(toRemoved);
  const remembered = gone
    .filter(pin => pin.approvedFingerprint !== null || pin.rejectedFingerprint !== null)
    .toSorted((one, other) => other.changedAt - one.changedAt)
    .slice(0, MAX_REMOVED);
  const kept = new Set(remembered.map(({ id }) => id));
  const removed = remembered.map(pin => ({ ...pin, approvedText: null, heldText: null }));
  return {
    admitted: new Set(next.filter(({ state }) => state === 'approved').map(({ id }) => id)),
    changes: [...next, ...removed].filter(change => isNews(pins.get(change.id), change)),
    forgotten: gone.filter(({ id }) => !kept.has(id)).map(({ id }) => id),
    heldTools: next.filter(({ kind, state }) => kind === 'tool' && WAITING.includes(state)).length,
  };
}

function judgeOne(
  definition: Definition,
  pin: Pin | undefined,
  { approval, isFirst }: Case,
  findReason: (definition: Definition, pin: Pin | undefined) => Reason | null,
): PinChange {
  const { id, kind, name, skeleton, fingerprint, text } = definition;
  const approved = pin?.approvedFingerprint ?? null;
  const reason = findReason(definition, pin);
  const rejected = pin?.rejectedFingerprint ?? null;
  const base = { id, kind, name, skeleton, rejectedFingerprint: rejected };
  const isApproved =
    fingerprint === approved ||
    (fingerprint !== rejected &&
      (approval === 'trust' || (approval === 'first' && isFirst && reason === null)));
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

function heldState(isRejected: boolean, wasApproved: boolean, reason: Reason | null): PinState {
  if (isRejected) return 'rejected';
  if (wasApproved) return 'changed';
  return reason === null ? 'pending' : 'quarantined';
}

/** Gone pins keep what was decided of them. */
const toRemoved = (pin: Pin): Pin => ({
  ...pin,
  state: 'removed',
  heldFingerprint: null,
  reason: null,
});

/**
 * Why a name misleads, in the order of the definitions: of two that look alike the plainer one is what the other looks like. Where it
 * is approved all the same, the reason stays noted.
 */
function createReasons({ serverId, pins, neighbours, copied }: Case) {
  const known = new LookAlikes<{ serverId: string; name: string }>();
  for (const { kind, approvedFingerprint, reason, name } of pins) {
    // What misleads is approved for itself; honest names are not measured by it.
    const isHonest = kind === 'tool' && approvedFingerprint !== null && reason === null;
    if (isHonest) known.add(name, { serverId, name });
  }
  for (const neighbour of neighbours) known.add(neighbour.name, neighbour);
  return ({ id, kind, name }: Definition, pin: Pin | undefined): Reason | null => {
    if (kind !== 'tool') return null;
    if (pin && pin.approvedFingerprint !== null) return pin.reason;
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

function isNews(pin: Pin | undefined, change: PinChange): boolean {
  return (
    pin?.state !== change.state ||
    pin.approvedFingerprint !== change.approvedFingerprint ||
    pin.heldFingerprint !== change.heldFingerprint ||
    JSON.stringify(pin.reason) !== JSON.stringify(change.reason)
  );
}
