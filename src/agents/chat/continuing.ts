/** How a chat that rests goes on: with a message, with what a person decided, or where it was stopped. Pure. */
import { fieldProblem, refuseFields } from '../../shared/errors/field-problems.ts';
import type { FieldProblem } from '../../shared/errors/portico-error.ts';
import type { ContinueChat } from './chat-schema.ts';
import { pendingOf } from './chat-events.ts';
import {
  closeTurn,
  mapTurn,
  NOTHING_SPENT,
  withUnknown,
  type ChatState,
  type StopReason,
} from './chat-state.ts';
import { withDecision, withoutDecision } from './deciding.ts';

/**
 * @param state at rest: nothing of it is under way
 * @throws PorticoError `validation_failed` where there is nothing to go on with
 */
export function toContinued(state: ChatState, given: ContinueChat): ChatState {
  const decided = withDecisions(state, given.decisions);
  if (given.message !== undefined) return withMessage(decided, given.message);
  if (given.decisions.length > 0) return running(decided);
  if (pendingOf(state).length > 0) {
    throw fieldProblem(
      'decisions',
      'calls wait for a decision; approve or refuse them, or send a message',
    );
  }
  const last = state.messages.at(-1);
  const isAnswered = state.turn.length === 0 && last?.role === 'assistant' && !last.isPaused;
  if (isAnswered) throw fieldProblem('message', 'the model has answered; send a message to go on');
  // Where a bound was met, going on is a new run; what was cut off in the middle is still the same.
  return state.stop === 'interrupted' ? running(state) : anew(running(state));
}

/** A user's message begins a run. */
export function withMessage(state: ChatState, text: string): ChatState {
  const closed = closeTurn(mapTurn(state, withoutDecision));
  return anew(running({ ...closed, messages: [...closed.messages, { role: 'user', text }] }));
}

function withDecisions(state: ChatState, decisions: ContinueChat['decisions']): ChatState {
  const waiting = new Set(pendingOf(state).map(({ id }) => id));
  const problems: FieldProblem[] = [];
  const said = new Map<string, boolean>();
  for (const [i, { call_id: id, approve }] of decisions.entries()) {
    const field = `decisions.${i}.call_id`;
    if (!waiting.has(id)) problems.push({ field, message: 'no such call waits for a decision' });
    if (said.has(id)) problems.push({ field, message: 'the call is there twice' });
    said.set(id, approve);
  }
  refuseFields(problems);
  return mapTurn(state, call => {
    const isApproved = said.get(call.id);
    return isApproved === undefined ? call : withDecision(call, isApproved);
  });
}

/** A new run: nothing is spent, and its calls are its own. */
const anew = (state: ChatState): ChatState => ({
  ...state,
  spent: NOTHING_SPENT,
  log: [],
  answer: '',
});

function running({ stop: _stop, problem: _problem, ...state }: ChatState): ChatState {
  return state;
}

/** A state that was left in the middle: calls that were under way have no result that will come. */
export function interrupted(state: ChatState, stop: StopReason = 'interrupted'): ChatState {
  return { ...closeTurn(withUnknown(state)), stop };
}

/** Whether it waits for a person or for a message. */
export const restOf = (state: ChatState) => (pendingOf(state).length > 0 ? 'waiting' : 'idle');
