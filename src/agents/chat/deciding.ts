/** Decides about the calls that a model makes: which are made at once, which a person is asked about, and which are impossible. Pure. */
import { isReadOnly } from '../../servers/catalog/catalog.ts';
import type { ListedItem } from '../../gateway/listing.ts';
import type { ExportedTools } from '../../models/formats/dialect.ts';
import type { CanonicalCall } from '../../models/formats/canonical-form.ts';
import { toQualifiedName } from '../../shared/naming/qualified-name.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import { APPROVALS, type Approval } from './chat-settings.ts';
import { ownResult, withResult, type ChatState, type StoredCall } from './chat-state.ts';

/** Longest name shown for a tool that does not exist, in UTF-16 units. */
const MAX_UNKNOWN_NAME = 100;
const OVER_BOUND = 'This call was not made: the run has made as many calls as it may.';
const NOT_APPROVED = 'This call was not made: the person who was asked refused it.';
const OTHER_TOOL =
  'This call was not made: another tool has the name of the one that the person approved.';
const OVERTAKEN = 'This call was not made: the user wrote another message before it was.';

/** Returns the stricter of two. */
export function stricter(a: Approval, b: Approval): Approval {
  return APPROVALS.indexOf(a) > APPROVALS.indexOf(b) ? a : b;
}

/** Whether a person has to be asked before a tool is called. A tool without annotations may change something. */
export function needsApproval({ item }: ListedItem, approve: Approval): boolean {
  return approve === 'always' || (approve === 'writes' && !isReadOnly(item));
}

/** Makes a reply's calls the open turn; those beyond the bound get their result at once. */
export function toTurn(state: ChatState, calls: readonly CanonicalCall[]): ChatState {
  const room = state.limits.calls - state.spent.calls;
  const turn = calls.map((call, i): StoredCall => {
    const id = `call_${state.lastCall + i + 1}`;
    const tool = toUnknownName(call);
    const stored: StoredCall = { id, call, tool, place: 'new', decision: 'undecided' };
    if (i < room) return stored;
    return { ...withResult(stored, ownResult(OVER_BOUND)), decision: 'over_bound' };
  });
  return {
    ...state,
    turn,
    lastCall: state.lastCall + calls.length,
    spent: { ...state.spent, calls: state.spent.calls + Math.min(calls.length, Math.max(0, room)) },
  };
}

/** What a caller may use now, as its model knows it. */
export interface Usable {
  tools: Pick<ExportedTools, 'toArguments'> | undefined;
  /** By the names in the dialect. */
  items: ReadonlyMap<string, ListedItem>;
}

const toUnknownName = ({ name }: CanonicalCall): string => toOneLine(name, MAX_UNKNOWN_NAME);

/** Returns the name of a call's tool for people; the model's name where there is no such tool. */
export function nameOf(call: CanonicalCall, { items }: Usable): string {
  const listed = items.get(call.name);
  return listed ? toQualifiedName(listed.server.name, listed.item.key, 'dot') : toUnknownName(call);
}

/** A tool's server and its name there; renamed servers, or names that were taken meanwhile, do not change it. */
const identityOf = ({ server, item }: ListedItem): string => `${server.id} ${item.key}`;

/**
 * Decides about an undecided call, and again about an approved one that was not made yet. A person is asked about exactly what would be
 * sent, and to which tool.
 */
export function decideCall(stored: StoredCall, usable: Usable, approve: Approval): StoredCall {
  const { name, arguments: given } = stored.call;
  const item = usable.items.get(name);
  if (stored.place === 'ready') {
    const isSame = !item || stored.of === undefined || stored.of === identityOf(item);
    return isSame ? stored : withResult(stored, ownResult(OTHER_TOOL));
  }
  if (stored.place !== 'new') return stored;
  // `runCalls` tells the model what is wrong with such a call, and does not send it.
  if (!item) return { ...stored, place: 'ready', decision: 'unusable' };
  const tool = nameOf(stored.call, usable);
  if (given === undefined) return { ...stored, tool, place: 'ready', decision: 'unusable' };
  const sent = usable.tools?.toArguments(name, given) ?? given;
  const known = { ...stored, tool, sent, of: identityOf(item) };
  if (needsApproval(item, approve)) return { ...known, place: 'waiting', decision: 'waiting' };
  return { ...known, place: 'ready', decision: 'allowed' };
}

/** Applies a person's decision to a waiting call. */
export function withDecision(stored: StoredCall, isApproved: boolean): StoredCall {
  if (stored.place !== 'waiting') return stored;
  if (isApproved) return { ...stored, place: 'ready', decision: 'approved' };
  return { ...withResult(stored, ownResult(NOT_APPROVED)), decision: 'refused' };
}

/** Refuses calls still to be decided or made: a user who writes a message has not waited for them. */
export function withoutDecision(stored: StoredCall): StoredCall {
  if (stored.place === 'done' || stored.place === 'under_way') return stored;
  return { ...withResult(stored, ownResult(OVERTAKEN)), decision: 'refused' };
}
