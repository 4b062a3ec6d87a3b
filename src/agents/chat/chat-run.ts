/**
 * One run of a claimed chat: the loop with a time limit, a lease and everything that may stop it: the caller leaves, another request asks
 * for it, or the chat is deleted. The outcome is written before the caller gets it.
 */
import type { ChatModel } from '../../models/chat-port.ts';
import type { Span } from '../../tracing/tracer.ts';
import { toChatView, type ChatEvent, type ChatView } from './chat-events.ts';
import { LEASE_MS, type ChatRecords, type Claim } from './chat-records.ts';
import type { ChatState, StopReason } from './chat-state.ts';
import { interrupted, restOf } from './continuing.ts';
import { runLoop, type Shown } from './loop.ts';

/** Interval of lease renewals, each of which also checks whether the run is to stop, in milliseconds. */
const BEAT_MS = LEASE_MS / 5;

/** Receives the events of a run. */
export interface Watcher {
  onEvent(event: ChatEvent): void;
  /** Whether text is wanted as it is generated. */
  isStreamed: boolean;
}

export interface RunPorts {
  records: ChatRecords;
  model: ChatModel;
  shown(state: ChatState): Promise<Shown | undefined>;
  now(): number;
  span: Span;
}

/** Thrown where another run has the chat now, or it was deleted. */
class ClaimLost extends Error {}

/**
 * @param signal aborts when the caller leaves
 * @throws any error that is not an ordinary end of a run; the chat can be continued then
 */
export async function runChat(
  claim: Claim,
  given: ChatState,
  ports: RunPorts,
  watcher: Watcher,
  signal: AbortSignal,
): Promise<ChatView> {
  const { records, model, shown, now, span } = ports;
  const rest = { claim, records, watcher, traceId: span.traceId };
  const controller = new AbortController();
  const end = (reason: StopReason) => controller.abort(reason);
  const onGone = () => end('stopped');
  if (signal.aborted) onGone();
  signal.addEventListener('abort', onGone, { once: true });
  const timer = setTimeout(() => end('seconds'), given.limits.seconds * 1_000 - given.spent.ms);
  const beat = setInterval(async () => {
    // A failed renewal does not stop the run: the next write shows whether the claim still holds.
    const lease = await records.renew(claim).catch(() => ({ isStopped: false }));
    if (!lease || lease.isStopped) end('stopped');
  }, BEAT_MS);
  let last = given;
  const save = async (state: ChatState) => {
    if (!(await records.write(claim, 'running', state))) throw new ClaimLost();
    last = state;
  };
  const loop = {
    model,
    shown,
    save,
    onStep: (state: ChatState) => (last = state),
    now,
    span,
    onEvent: watcher.onEvent,
    isWatched: watcher.isStreamed,
  };
  try {
    const state = await runLoop(given, loop, controller.signal);
    span.end({ decision: state.stop ?? 'stopped' });
    return await finish(state, rest);
  } catch (thrown) {
    const state = interrupted(last, thrown instanceof ClaimLost ? 'stopped' : 'interrupted');
    span.end({ error: state.stop ?? 'interrupted' });
    if (thrown instanceof ClaimLost) return reportDone(state, rest);
    await finish(state, rest).catch(() => {});
    throw thrown;
  } finally {
    clearTimeout(timer);
    clearInterval(beat);
    signal.removeEventListener('abort', onGone);
  }
}

interface Rest {
  claim: Claim;
  records: ChatRecords;
  watcher: Watcher;
  traceId: string;
}

async function finish(state: ChatState, rest: Rest): Promise<ChatView> {
  await rest.records.write(rest.claim, restOf(state), state);
  return reportDone(state, rest);
}

function reportDone(state: ChatState, { claim, watcher, traceId }: Rest): ChatView {
  const chat = { ...toChatView(claim.id, restOf(state), state), trace_id: traceId };
  watcher.onEvent({ type: 'done', chat });
  return chat;
}
