/** The events of a running chat, and its state: the forms that REST, MCP and the command line show. Pure. */
import { toPreview } from './bounded-result.ts';
import type { CallDecision, ChatState, StopReason, StoredCall } from './chat-state.ts';

/** A call as its caller sees it. */
export interface CallView {
  id: string;
  name: string;
  /** Null where they could not be read, or may be incomplete. */
  arguments: Record<string, unknown> | null;
  decision: CallDecision;
  /** Null until there is a result. */
  is_error: boolean | null;
  /** Whether the call was executed is not known. */
  is_unknown?: true;
}

/** `idle`: the chat waits for a message. */
export type ChatStatus = 'running' | 'waiting' | 'idle';

export interface ChatView {
  id: string;
  status: ChatStatus;
  /** The model's answer in this run; empty where there is none. */
  answer: string;
  /** Null while it runs. */
  stop_reason: StopReason | null;
  problem?: string;
  steps: number;
  calls: CallView[];
  usage: { input_tokens: number; output_tokens: number; cost_usd: number | null };
  /** Calls that a person has to decide about. */
  pending?: CallView[];
  /** Trace of the run that just ended. */
  trace_id?: string;
}

export type ChatEvent =
  | { type: 'chat'; id: string }
  | { type: 'text'; text: string }
  | { type: 'call'; call: CallView }
  | { type: 'result'; id: string; name: string; is_error: boolean; preview: string }
  | { type: 'approval'; pending: CallView[] }
  | { type: 'done'; chat: ChatView };

export function toCallView(stored: StoredCall): CallView {
  const { id, tool, call, sent, decision, result, isUnknown } = stored;
  return {
    id,
    name: tool,
    arguments: sent ?? call.arguments ?? null,
    decision,
    is_error: result === undefined ? null : result['isError'] === true,
    ...(isUnknown ? { is_unknown: true } : {}),
  };
}

/** Returns the result of a call as an event. */
export function toResultEvent({ id, tool, result = {} }: StoredCall): ChatEvent {
  return {
    type: 'result',
    id,
    name: tool,
    is_error: result['isError'] === true,
    preview: toPreview(result),
  };
}

export const pendingOf = (state: ChatState): CallView[] =>
  state.turn.filter(({ place }) => place === 'waiting').map(toCallView);

/** Decimals of a cost in dollars. */
const COST_DIGITS = 6;

export function toChatView(id: string, status: ChatStatus, state: ChatState): ChatView {
  const { spent, stop, problem } = state;
  const pending = pendingOf(state);
  return {
    id,
    status,
    answer: state.answer,
    stop_reason: status === 'running' ? null : (stop ?? null),
    ...(problem === undefined ? {} : { problem }),
    steps: spent.steps,
    calls: [...state.log, ...state.turn].map(toCallView),
    usage: {
      input_tokens: spent.inputTokens,
      output_tokens: spent.outputTokens,
      cost_usd: spent.costUsd === undefined ? null : Number(spent.costUsd.toFixed(COST_DIGITS)),
    },
    ...(pending.length > 0 ? { pending } : {}),
  };
}
