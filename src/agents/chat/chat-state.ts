/**
 * The stored state of a chat between two steps: the conversation, the calls of the open turn, and what the run has used. Pure: every change
 * returns a new state.
 */
import { z } from 'zod';
import type { Format } from '../../models/formats/dialect.ts';
import type { CanonicalCall, CanonicalMessage } from '../../models/formats/canonical-form.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import type { Approval, Limits } from './chat-settings.ts';

/**
 * State of a call in the open turn. `new`: nothing is decided; `waiting`: a person is asked; `ready`: it may be made; `under_way`: it may
 * have been sent, so it is never sent again; `done`: it has its result.
 */
export type CallPlace = 'new' | 'waiting' | 'ready' | 'under_way' | 'done';

/**
 * What was decided about a call. `allowed`: nobody had to be asked; `approved`, `refused`: a person decided; `over_bound`: there were too
 * many; `unusable`: it cannot be read, or no such tool was shown; `not_made`: the model's turn did not end normally.
 */
export const CALL_DECISIONS = [
  'undecided',
  'waiting',
  'allowed',
  'approved',
  'refused',
  'over_bound',
  'unusable',
  'not_made',
] as const;
export type CallDecision = (typeof CALL_DECISIONS)[number];

export interface StoredCall {
  /** The gateway's id: unlike the model's, unique within a chat. */
  id: string;
  /** As the model made it. */
  call: CanonicalCall;
  /** The tool's name for people; the model's name where there is no such tool. */
  tool: string;
  place: CallPlace;
  decision: CallDecision;
  /** The arguments as they are sent, and as a person sees them; absent where there is no such tool. */
  sent?: JsonObject;
  /** Which tool it is for: id of the server, and the tool's own name; absent where there is no such tool. */
  of?: string;
  /** A result of `tools/call`, once it is done. */
  result?: JsonObject;
  /** It was under way when the run ended: whether it was executed is not known. */
  isUnknown?: true;
}

/** What a run has used. */
export interface Spent {
  steps: number;
  calls: number;
  inputTokens: number;
  outputTokens: number;
  /** Undefined where the deployment names no prices. */
  costUsd: number | undefined;
  ms: number;
}

/** Why a run ended. */
export const STOP_REASONS = [
  'answered',
  'steps',
  'calls',
  'tokens',
  'seconds',
  'cost',
  'size',
  'approval',
  'stopped',
  'interrupted',
  'revoked',
  'length',
  'refused',
  'model_failed',
  'model_budget',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export interface ChatState {
  version: 1;
  /** The dialect whose own form turns in `messages` have. */
  format: Format;
  model: string;
  messages: readonly CanonicalMessage[];
  /** Calls of the last message, until each has a result. */
  turn: readonly StoredCall[];
  /** Calls of the run's closed turns, without their results. */
  log: readonly StoredCall[];
  /** Number of calls that the chat has had, which is the number of the last id. */
  lastCall: number;
  spent: Spent;
  limits: Limits;
  approve: Approval;
  /** Limits of the token that it was last run with, as in `Policy.limits`; absent where it had none. */
  within?: string;
  /** The only tools that the model is shown. */
  only: { servers?: readonly string[] | undefined; toolset?: string | undefined };
  /** Absent while it runs. */
  stop?: StopReason;
  /** What went wrong, in one line. */
  problem?: string;
  /** The last text of the model in this run. */
  answer: string;
}

export const NOTHING_SPENT: Spent = {
  steps: 0,
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: undefined,
  ms: 0,
};

/** Largest state, in bytes of JSON: sealed, it has to fit into a row. */
export const MAX_STATE_BYTES = 1_000_000;

const encoder = new TextEncoder();

/** Whether a state is small enough to be stored. */
export function isStorable(state: ChatState): boolean {
  return encoder.encode(JSON.stringify(state)).length <= MAX_STATE_BYTES;
}

/** Checks of a state sealed here only that this version of the code can read it. */
const StateSchema = z.custom<ChatState>(value => isObject(value) && value['version'] === 1);

/** @returns undefined for a state of another version */
export function parseState(text: string): ChatState | undefined {
  return StateSchema.safeParse(JSON.parse(text)).data;
}

/** Returns the state with each call of its turn mapped. */
export function mapTurn(state: ChatState, change: (call: StoredCall) => StoredCall): ChatState {
  return { ...state, turn: state.turn.map(change) };
}

/** Makes a result of the gateway's own in place of a tool's. */
export function ownResult(text: string): JsonObject {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Returns the call, done and with its result. */
export function withResult(stored: StoredCall, result: JsonObject): StoredCall {
  return { ...stored, place: 'done', result };
}

const UNKNOWN =
  'It is not known what became of this call: it was sent, and everything was stopped before its result came. It was not sent again. ' +
  'Find out what it did before you call it once more.';

/** Gives calls that were under way a result, since theirs will never come. */
export function withUnknown(state: ChatState): ChatState {
  return mapTurn(state, stored =>
    stored.place === 'under_way'
      ? { ...withResult(stored, ownResult(UNKNOWN)), isUnknown: true }
      : stored,
  );
}

/** Closes a turn in which every call has its result: the results become a message. */
export function closeTurn(state: ChatState): ChatState {
  if (state.turn.length === 0 || state.turn.some(({ place }) => place !== 'done')) return state;
  const results = state.turn.map(({ call, result = {} }) => ({
    id: call.id,
    name: call.name,
    result,
  }));
  return {
    ...state,
    messages: [...state.messages, { role: 'tools', results }],
    log: [...state.log, ...state.turn.map(toLogged)],
    turn: [],
  };
}

/** Returns what is kept of a call beside the conversation, which has the rest. */
export function toLogged(stored: StoredCall): StoredCall {
  return { ...stored, result: { isError: stored.result?.['isError'] === true } };
}

/** Converts turns in another model's form to the canonical form. */
export function toFormat(state: ChatState, format: Format, model: string): ChatState {
  const isSame = state.format === format && state.model === model;
  const messages = isSame
    ? state.messages
    : state.messages.map((message): CanonicalMessage =>
        message.role === 'assistant'
          ? { role: 'assistant', text: message.text, calls: message.calls }
          : message,
      );
  return { ...state, messages, format, model };
}
