/** How a resting chat continues: with a message, with a person's decisions, or where it was stopped. Pure. */
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

/** A message overtakes all calls that are not made yet, so it would refuse what was just approved. */
const APPROVED_FIRST = 'send it after the approved calls have been made';

/**
 * @param state at rest: no call is under way
 * @throws PorticoError `validation_failed` where there is nothing to continue with
 */
export function toContinued(state: ChatState, given: ContinueChat): ChatState {
  const decided = withDecisions(state, given.decisions);
  if (given.message !== undefined) {
    if (given.decisions.some(({ approve }) => approve))
      throw fieldProblem('message', APPROVED_FIRST);
    return withMessage(decided, given.message);
  }
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
  // After a bound was met, continuing is a new run; after an interruption it is the same run.
  return state.stop === 'interrupted' ? running(state) : anew(running(state));
}

/** Begins a run with a user's message. */
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
    if (said.has(id)) problems.push({ field, message: 'the call is given twice' });
    said.set(id, approve);
  }
  refuseFields(problems);
  return mapTurn(state, call => {
    const isApproved = said.get(call.id);
    return isApproved === undefined ? call : withDecision(call, isApproved);
  });
}

/** Begins a new run: nothing is used yet, and the log of calls is empty. */
const anew = (state: ChatState): ChatState => ({
  ...state,
  spent: NOTHING_SPENT,
  log: [],
  answer: '',
});

function running({ stop: _stop, problem: _problem, ...state }: ChatState): ChatState {
  return state;
}

/** Returns a state that was left in the middle at rest: calls that were under way will get no result. */
export function interrupted(state: ChatState, stop: StopReason = 'interrupted'): ChatState {
  return { ...closeTurn(withUnknown(state)), stop };
}

/** Whether the chat waits for a person or for a message. */
export const restOf = (state: ChatState) => (pendingOf(state).length > 0 ? 'waiting' : 'idle');
