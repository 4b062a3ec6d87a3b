/**
 * Handles a turn of the model that did not end normally: none of its calls is made. They are shown as not made, only the text of the turn
 * stays in the conversation, and continuing the chat asks the model again. Pure.
 */
import type { TurnReply } from '../../models/formats/dialect.ts';
import type {
  CanonicalCall,
  CanonicalMessage,
  Unfinished,
} from '../../models/formats/canonical-form.ts';
import { toNotMade, unfinishedOf } from '../../models/formats/turn-end.ts';
import { ownResult, toLogged, withResult, type ChatState, type StoredCall } from './chat-state.ts';

/** Shown to a person where the API gave no known reason. */
const NO_END = 'The answer of the model is incomplete';

/** Sent to the model when it is asked again. */
const CUT =
  'Your last answer was cut off at the maximum length, so none of the calls in it was made. Make those that are still needed again, with less in one answer.';

/** Returns why a reply is not acted on; undefined where it is. */
export function unfinishedReply({ stop, calls }: TurnReply): Unfinished | undefined {
  const why = unfinishedOf(stop);
  return calls.length > 0 || why === stop ? why : undefined;
}

/**
 * Returns the state after such a turn, at rest.
 * @param nameOf the name of a tool for people
 */
export function withUnfinished(
  state: ChatState,
  { text, calls }: TurnReply,
  why: Unfinished,
  nameOf: (call: CanonicalCall) => string,
): ChatState {
  return {
    ...withUnmade(state, calls, why, nameOf),
    messages: [...state.messages, ...toMessages(text, calls, why)],
    answer: text,
    stop: why,
    ...(why === 'interrupted' ? { problem: NO_END } : {}),
  };
}

/**
 * Returns the state after a turn with a call that its API could not read: the model is told once what was wrong, and the run continues; if
 * it had just been told, the run ends.
 */
export function withMalformed(
  state: ChatState,
  { text, calls, problem = '' }: TurnReply,
  nameOf: (call: CanonicalCall) => string,
): ChatState {
  const left = { ...withUnmade(state, calls, 'interrupted', nameOf), answer: text };
  const last = state.messages.at(-1);
  if (last?.role === 'user' && last.note === 'malformed') {
    return { ...left, stop: 'model_failed', problem: `${MALFORMED_AGAIN}: ${problem}` };
  }
  const note: CanonicalMessage = {
    role: 'user',
    text: toMalformedNote(problem),
    note: 'malformed',
  };
  const said: CanonicalMessage[] =
    text.trim() === '' ? [] : [{ role: 'assistant', text, calls: [] }];
  return { ...left, messages: [...state.messages, ...said, note] };
}

const MALFORMED_AGAIN =
  'The model made a call that cannot be read, and did so again after it was told';

const toMalformedNote = (problem: string): string =>
  `Nothing was called in your last turn. ${problem}. Call again: one of the tools you were given by its exact name, with one JSON object that fits its schema.`;

/** Logs the calls as not made. */
function withUnmade(
  state: ChatState,
  calls: readonly CanonicalCall[],
  why: Unfinished,
  nameOf: (call: CanonicalCall) => string,
): ChatState {
  const unmade = calls.map((call, i): StoredCall => {
    const stored: StoredCall = {
      id: `call_${state.lastCall + i + 1}`,
      // The arguments of a cut call are not what the model meant.
      call: { id: call.id, name: call.name, arguments: undefined },
      tool: nameOf(call),
      place: 'new',
      decision: 'not_made',
    };
    return toLogged(withResult(stored, ownResult(toNotMade(why))));
  });
  const lastCall = state.lastCall + calls.length;
  return { ...state, log: [...state.log, ...unmade], lastCall };
}

/** Returns the messages that stay of the turn: a text without calls stays as an answer; a text beside cut calls gets a note about them. */
function toMessages(
  text: string,
  calls: readonly CanonicalCall[],
  why: Unfinished,
): CanonicalMessage[] {
  const said: CanonicalMessage = { role: 'assistant', text, calls: [] };
  if (calls.length === 0) return why === 'interrupted' ? [] : [said];
  if (why !== 'length') return [];
  const note: CanonicalMessage = { role: 'user', text: CUT, note: 'cut' };
  return text.trim() === '' ? [note] : [said, note];
}
