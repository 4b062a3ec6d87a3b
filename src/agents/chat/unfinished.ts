/**
 * What becomes of a turn of the model that did not end by itself: none of its calls is made. They are shown as not made, nothing of the
 * turn but its text stays in the conversation, and whoever goes on has the model asked again. Pure.
 */
import type { TurnReply } from '../../models/formats/dialect.ts';
import type {
  CanonicalCall,
  CanonicalMessage,
  Unfinished,
} from '../../models/formats/canonical-form.ts';
import { toNotMade, unfinishedOf } from '../../models/formats/turn-end.ts';
import { ownResult, toLogged, withResult, type ChatState, type StoredCall } from './chat-state.ts';

/** Told to a person where the API gave no reason that is known. */
const NO_END = 'The answer of the model did not end as a whole one does';

/** Told to the model when it is asked again. */
const CUT =
  'Your last answer was cut off at its longest length, so none of the calls in it was made. Make those that are still needed again, with less in one answer.';

/** Why a reply is not acted on; undefined where it is. */
export function unfinishedReply({ stop, calls }: TurnReply): Unfinished | undefined {
  const why = unfinishedOf(stop);
  return calls.length > 0 || why === stop ? why : undefined;
}

/**
 * The state after such a turn, at rest.
 * @param nameOf the name of a tool as people know it
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
 * The state after a turn with a call that its API could not read: the model is told once what was wrong, and goes on; where it was just
 * told so, the run ends.
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

const MALFORMED_AGAIN = 'The model made a call that nobody could read, and again when it was told';

const toMalformedNote = (problem: string): string =>
  `Nothing was called in your last turn. ${problem}. Call again: one of the tools you were given by its exact name, with one JSON object that fits its schema.`;

/** The calls in the log, as not made. */
function withUnmade(
  state: ChatState,
  calls: readonly CanonicalCall[],
  why: Unfinished,
  nameOf: (call: CanonicalCall) => string,
): ChatState {
  const unmade = calls.map((call, i): StoredCall => {
    const stored: StoredCall = {
      id: `call_${state.lastCall + i + 1}`,
      // What a cut call says of its arguments is not what the model meant.
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

/** What stays of it: a text without calls, as the answer it is; beside calls that were cut, with a word on them. */
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
