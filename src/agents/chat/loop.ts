/**
 * The loop of a chat: ask the model, make the calls it wants, ask again, until it answers or a bound is met. It knows neither HTTP nor
 * storage: who asks, calls and writes are its ports.
 *
 * Invariants: calls are written as under way before any of them leaves, and one that is under way is never sent again; a call about which
 * a person has to decide does not leave before that; calls of a turn that did not end for them never leave; rights are read again before each question and before each turn of calls; whatever
 * ends the loop, the state that it gives is whole: what was done is in it, and every call of a turn that is over has a result.
 */
import type { ListedItem } from '../../gateway/listing.ts';
import type { ExportedTools, TurnReply } from '../../models/formats/dialect.ts';
import type {
  CanonicalCall,
  CanonicalResult,
  Unfinished,
} from '../../models/formats/canonical-form.ts';
import type { ChatModel } from '../../models/chat-port.ts';
import { ModelFailure } from '../../models/model-port.ts';
import type { Span } from '../../tracing/tracer.ts';
import { toBoundedResult } from './bounded-result.ts';
import { decideAllowance, withTokens } from './bounds.ts';
import { pendingOf, toCallView, toResultEvent, type ChatEvent } from './chat-events.ts';
import {
  closeTurn,
  isStorable,
  mapTurn,
  ownResult,
  withResult,
  withUnknown,
  type ChatState,
  type StopReason,
  type StoredCall,
} from './chat-state.ts';
import { decideCall, nameOf, toTurn } from './deciding.ts';
import { SYSTEM_TEXT } from './system-text.ts';
import { unfinishedReply, withMalformed, withUnfinished } from './unfinished.ts';

/** What the model may be shown at a moment. */
export interface Shown {
  /** Undefined where there is no tool. */
  tools: ExportedTools | undefined;
  /** By the names in the dialect. */
  items: ReadonlyMap<string, ListedItem>;
  /** Puts calls to the gateway, in this order, as the caller is now. @throws only where the signal aborts */
  run(
    calls: readonly CanonicalCall[],
    watch: CallEnds,
    signal: AbortSignal,
  ): Promise<CanonicalResult[]>;
}

/** Told of each call as its result comes. */
export type CallEnds = (id: string, result: CanonicalResult) => void;

export interface LoopPorts {
  model: ChatModel;
  /** What the caller may use now; undefined where it may use nothing any more. */
  shown(state: ChatState): Promise<Shown | undefined>;
  /** Writes the state. @throws where somebody else goes on with the chat */
  save(state: ChatState): Promise<void>;
  tell(event: ChatEvent): void;
  /** Whether somebody watches the text while it comes. */
  isWatched: boolean;
  /** Milliseconds. */
  now(): number;
  span: Span;
}

const FULL =
  'The result is not kept: the conversation is as large as it may be. Begin another one.';

/**
 * Go on with a chat until there is a reason to stop, which is in the state that it gives.
 * @param signal its reason is that reason
 */
export async function runLoop(
  given: ChatState,
  ports: LoopPorts,
  signal: AbortSignal,
): Promise<ChatState> {
  const startedAt = ports.now();
  const before = given.spent.ms;
  const timed = (state: ChatState): ChatState => ({
    ...state,
    spent: { ...state.spent, ms: before + ports.now() - startedAt },
  });
  let state: ChatState = given;
  for (;;) {
    const step = ports.span.child('chat.step', { step: state.spent.steps + 1 });
    const next = await takeStep(timed(state), ports, signal, step);
    state = timed(next);
    step.end(state.stop === undefined ? {} : { decision: state.stop });
    if (state.stop !== undefined) return state;
  }
}

/** What is open of a turn, then one question. */
async function takeStep(
  given: ChatState,
  ports: LoopPorts,
  signal: AbortSignal,
  step: Span,
): Promise<ChatState> {
  const state = given.turn.length === 0 ? given : await finishTurn(given, ports, signal, step);
  if (state.stop !== undefined) return state;
  if (signal.aborted) return stopped(state, reasonOf(signal));
  const shown = await ports.shown(state);
  if (!shown) return stopped(state, 'revoked');
  return ask(state, shown, ports, signal, step);
}

async function finishTurn(
  given: ChatState,
  ports: LoopPorts,
  signal: AbortSignal,
  step: Span,
): Promise<ChatState> {
  const shown = await ports.shown(given);
  if (!shown) return stopped(given, 'revoked');
  if (signal.aborted) return stopped(given, reasonOf(signal));
  let state = mapTurn(given, call => decideCall(call, shown, given.approve));
  for (const call of state.turn) {
    if (given.turn.find(({ id }) => id === call.id)?.place !== 'new') continue;
    ports.tell({ type: 'call', call: toCallView(call) });
  }
  const isDue = ({ place }: StoredCall) => place === 'ready';
  if (state.turn.some(isDue)) {
    state = mapTurn(state, call => (isDue(call) ? { ...call, place: 'under_way' } : call));
    await ports.save(state);
    state = await makeCalls(state, shown, ports, signal, step);
    if (signal.aborted) return stopped(closeTurn(withUnknown(state)), reasonOf(signal));
  }
  const pending = pendingOf(state);
  if (pending.length > 0) {
    ports.tell({ type: 'approval', pending });
    return stopped(state, 'approval');
  }
  const isOver = state.turn.some(({ decision }) => decision === 'over_bound');
  const closed = closeTurn(state);
  if (!isStorable(closed)) {
    const emptied = mapTurn(state, call => withResult(call, ownResult(FULL)));
    return stopped(closeTurn(emptied), 'size');
  }
  if (isOver) return stopped(closed, 'calls');
  await ports.save(closed);
  return closed;
}

/** The turn with the results of those of its calls that were under way; some have none where the signal aborted. */
async function makeCalls(
  state: ChatState,
  shown: Shown,
  { tell }: LoopPorts,
  signal: AbortSignal,
  step: Span,
): Promise<ChatState> {
  const due = state.turn.filter(({ place }) => place === 'under_way');
  const spans = new Map(
    due.map(({ id, tool, decision }) => [
      id,
      // A name that is no tool of the caller's is none that a trace may tell.
      step.child('tool.call', { tool: decision === 'unusable' ? undefined : tool, decision }),
    ]),
  );
  const ended = new Map<string, StoredCall>();
  const end = (id: string, { result }: CanonicalResult) => {
    const stored = due.find(call => call.id === id);
    if (!stored || ended.has(id)) return;
    const done = withResult(stored, toBoundedResult(result));
    ended.set(id, done);
    spans.get(id)?.end({ decision: result['isError'] === true ? 'error' : 'done' });
    tell(toResultEvent(done));
  };
  // Under ids of our own: those that a model makes may be there twice.
  const calls = due.map(({ id, call, sent }): CanonicalCall => ({
    ...call,
    id,
    ...(sent ? { arguments: sent } : {}),
  }));
  try {
    const results = await shown.run(calls, end, signal);
    for (const [i, result] of results.entries()) end(calls[i]?.id ?? '', result);
  } catch {
    // What has no result by now is told as unknown: it may have been sent.
  }
  for (const span of spans.values()) span.end({ error: 'unknown' });
  const after = mapTurn(state, stored => ended.get(stored.id) ?? stored);
  return signal.aborted ? after : withUnknown(after);
}

async function ask(
  state: ChatState,
  shown: Shown,
  ports: LoopPorts,
  signal: AbortSignal,
  step: Span,
): Promise<ChatState> {
  const { model, tell, isWatched } = ports;
  const { messages, spent, limits } = state;
  const { tools } = shown;
  const turn = { system: SYSTEM_TEXT, messages, ...(tools ? { tools } : {}) };
  const request = model.dialect.toRequest({ ...turn, maxTokens: 1 });
  const costOf = model.costOf.bind(model);
  const allowed = decideAllowance(spent, limits, request, costOf);
  if ('stop' in allowed) return stopped(state, allowed.stop);
  const { maxTokens } = allowed;
  const span = step.child('model.chat', { model: model.name });
  const onText = (text: string) => tell({ type: 'text', text });
  let reply;
  try {
    reply = await model.chat({ ...turn, maxTokens, signal, ...(isWatched ? { onText } : {}) });
  } catch (thrown) {
    span.end({ error: thrown instanceof ModelFailure ? thrown.problem : 'failed' });
    if (signal.aborted) return stopped(state, reasonOf(signal));
    if (!(thrown instanceof ModelFailure)) throw thrown;
    if (thrown.problem === 'broken') {
      const left = withUnmade(state, thrown.partial ?? NOTHING, 'interrupted', shown, tell);
      return { ...left, problem: thrown.message };
    }
    const reason = thrown.problem === 'budget' ? 'model_budget' : 'model_failed';
    return { ...stopped(state, reason), problem: thrown.message };
  }
  span.set({ input_tokens: reply.tokens.input, output_tokens: reply.tokens.output });
  span.end({ decision: reply.stop });
  const used = { ...state, spent: withTokens(spent, reply.tokens, costOf) };
  const why = unfinishedReply(reply);
  if (reply.stop === 'malformed' || why !== undefined) {
    const left = withUnmade(used, reply, why, shown, tell);
    return isStorable(left) ? left : stopped(used, 'size');
  }
  const { text, calls, raw } = reply;
  const paused = reply.stop === 'paused' ? { isPaused: true as const } : {};
  const last = messages.at(-1);
  // What was said before a pause is the beginning of the same answer.
  const said = last?.role === 'assistant' && last.isPaused ? state.answer : '';
  const answered: ChatState = {
    ...used,
    messages: [...messages, { role: 'assistant', text, calls, raw, ...paused }],
    answer: said + text,
  };
  const next = toTurn(answered, calls);
  if (!isStorable(next)) return stopped(used, 'size');
  return calls.length > 0 || reply.stop === 'paused' ? next : stopped(next, 'answered');
}

/** What came of an answer of which nothing came. */
const NOTHING: TurnReply = {
  text: '',
  calls: [],
  raw: undefined,
  stop: 'interrupted',
  tokens: undefined,
};

/** A turn that did not end by itself: its calls are told of, and are over. */
function withUnmade(
  state: ChatState,
  reply: TurnReply,
  why: Unfinished | undefined,
  shown: Shown,
  tell: LoopPorts['tell'],
): ChatState {
  const toName = (call: CanonicalCall) => nameOf(call, shown);
  const left =
    reply.stop === 'malformed'
      ? withMalformed(state, reply, toName)
      : withUnfinished(state, reply, why ?? 'interrupted', toName);
  const unmade = left.log.slice(state.log.length);
  for (const call of unmade) tell({ type: 'call', call: toCallView(call) });
  return left;
}

const stopped = (state: ChatState, stop: StopReason): ChatState => ({ ...state, stop });

/** Why a signal aborted: what is no reason of ours is somebody who went away. */
function reasonOf({ reason }: AbortSignal): StopReason {
  return reason === 'seconds' ? 'seconds' : 'stopped';
}
