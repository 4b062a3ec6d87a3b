/**
 * The loop of a chat: ask the model, make the calls that it wants, ask again, until it answers or a bound is met. It knows neither HTTP nor
 * storage: its ports ask, call and write.
 *
 * Invariants: calls are written as under way before any of them leaves, and a call under way is never sent again; a call that a person has
 * to decide about does not leave before that; calls of a turn that did not end normally never leave; rights are read again before each
 * question and before each turn of calls. However the loop ends, the state that it returns is complete: it includes everything that was
 * done, and every call of a closed turn has a result.
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

/** What the model may be shown at one moment. */
export interface Shown {
  /** Undefined where there are no tools. */
  tools: ExportedTools | undefined;
  /** By their names in the dialect. */
  items: ReadonlyMap<string, ListedItem>;
  /** Makes calls through the gateway, in this order, with the caller's current rights. @throws only where the signal aborts */
  run(
    calls: readonly CanonicalCall[],
    watch: CallEnds,
    signal: AbortSignal,
  ): Promise<CanonicalResult[]>;
}

/** Called with the result of each call as it comes. */
export type CallEnds = (id: string, result: CanonicalResult) => void;

export interface LoopPorts {
  model: ChatModel;
  /** Returns what the caller may use now; undefined where it may use nothing any more. */
  shown(state: ChatState): Promise<Shown | undefined>;
  /** Writes the state. @throws where another run has the chat now */
  save(state: ChatState): Promise<void>;
  /** Takes the state after each step: if the run breaks, what the model answered is still written, since it was paid for. */
  onStep(state: ChatState): void;
  onEvent(event: ChatEvent): void;
  /** Whether somebody reads the text as it is generated. */
  isWatched: boolean;
  /** Milliseconds. */
  now(): number;
  span: Span;
}

const FULL =
  'The result is not kept: the conversation is as large as it may be. Begin another one.';

/**
 * Runs a chat until there is a reason to stop, which the returned state contains.
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
    ports.onStep(state);
    step.end(state.stop === undefined ? {} : { decision: state.stop });
    if (state.stop !== undefined) return state;
  }
}

/** Finishes the open turn, then asks one question. */
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
  return takeTurn(state, shown, ports, signal, step);
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
    ports.onEvent({ type: 'call', call: toCallView(call) });
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
    ports.onEvent({ type: 'approval', pending });
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

/** Returns the turn with the results of its calls under way; some have none where the signal aborted. */
async function makeCalls(
  state: ChatState,
  shown: Shown,
  { onEvent }: LoopPorts,
  signal: AbortSignal,
  step: Span,
): Promise<ChatState> {
  const due = state.turn.filter(({ place }) => place === 'under_way');
  const spans = new Map(
    due.map(({ id, tool, decision }) => [
      id,
      // A trace must not contain a name that is no tool of the caller's.
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
    onEvent(toResultEvent(done));
  };
  // Under the gateway's own ids, since a model may use an id twice.
  const calls = due.map(({ id, call, sent }): CanonicalCall => ({
    ...call,
    id,
    ...(sent ? { arguments: sent } : {}),
  }));
  try {
    const results = await shown.run(calls, end, signal);
    for (const [i, result] of results.entries()) end(calls[i]?.id ?? '', result);
  } catch {
    // A call without a result by now is reported as unknown: it may have been sent.
  }
  for (const span of spans.values()) span.end({ error: 'unknown' });
  const after = mapTurn(state, stored => ended.get(stored.id) ?? stored);
  return signal.aborted ? after : withUnknown(after);
}

async function takeTurn(
  state: ChatState,
  shown: Shown,
  ports: LoopPorts,
  signal: AbortSignal,
  step: Span,
): Promise<ChatState> {
  const { model, onEvent, isWatched } = ports;
  const { messages, spent, limits } = state;
  const { tools } = shown;
  const turn = { system: SYSTEM_TEXT, messages, ...(tools ? { tools } : {}) };
  const request = model.dialect.toRequest({ ...turn, maxTokens: 1 });
  const costOf = model.costOf.bind(model);
  const allowed = decideAllowance(spent, limits, request, costOf);
  if ('stop' in allowed) return stopped(state, allowed.stop);
  const { maxTokens } = allowed;
  const span = step.child('model.chat', { model: model.name });
  const onText = (text: string) => onEvent({ type: 'text', text });
  let reply;
  try {
    reply = await model.chat({ ...turn, maxTokens, signal, ...(isWatched ? { onText } : {}) });
  } catch (thrown) {
    span.end({ error: thrown instanceof ModelFailure ? thrown.problem : 'failed' });
    if (signal.aborted) return stopped(state, reasonOf(signal));
    if (!(thrown instanceof ModelFailure)) throw thrown;
    if (thrown.problem === 'broken') {
      const left = withUnmade(state, thrown.partial ?? NOTHING, 'interrupted', shown, onEvent);
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
    const left = withUnmade(used, reply, why, shown, onEvent);
    return isStorable(left) ? left : stopped(used, 'size');
  }
  const { text, calls, raw } = reply;
  const paused = reply.stop === 'paused' ? { isPaused: true as const } : {};
  const last = messages.at(-1);
  // The text before a pause is the beginning of the same answer.
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

/** The partial reply where nothing of an answer came. */
const NOTHING: TurnReply = {
  text: '',
  calls: [],
  raw: undefined,
  stop: 'interrupted',
  tokens: undefined,
};

/** Ends a turn that did not end normally: its calls are reported and logged as not made. */
function withUnmade(
  state: ChatState,
  reply: TurnReply,
  why: Unfinished | undefined,
  shown: Shown,
  onEvent: LoopPorts['onEvent'],
): ChatState {
  const toName = (call: CanonicalCall) => nameOf(call, shown);
  const left =
    reply.stop === 'malformed'
      ? withMalformed(state, reply, toName)
      : withUnfinished(state, reply, why ?? 'interrupted', toName);
  const unmade = left.log.slice(state.log.length);
  for (const call of unmade) onEvent({ type: 'call', call: toCallView(call) });
  return left;
}

const stopped = (state: ChatState, stop: StopReason): ChatState => ({ ...state, stop });

/** Returns why a signal aborted; a reason that is not the run's own means that the caller left. */
function reasonOf({ reason }: AbortSignal): StopReason {
  return reason === 'seconds' ? 'seconds' : 'stopped';
}
