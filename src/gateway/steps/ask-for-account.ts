/**
 * Asks a caller that lacks an account at a server to connect one, if its client answers in a further round and can show a link: the call
 * gets that request for an answer, and its next round tries again. All other callers get the failure, which names the link. Nothing waits
 * here and nothing is stored: whether there is an account by then shows when the call comes again.
 * Source: MCP 2026-07-28, Elicitation (URL mode) and Multi Round-Trip Requests.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { opensLinks } from '../../shared/client-capabilities.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import type { CallContext, CallMessages } from '../../upstream/protocol/call.ts';
import type { RawResponse } from '../../upstream/protocol/message.ts';
import type { CacheAnswer } from '../cache/cached-call.ts';
import { isCall, type RelayedRequest } from '../gateway.ts';
import { connectText, linkOf, ServerFailure } from '../server-failure.ts';
import type { CallRecord } from './record.ts';

/** Key of this request among those of its round. */
const KEY = 'connect_account';
/** This very object, not an equal one, marks the gateway's request among those of servers. */
const PARSED: JsonObject = Object.freeze({ resultType: 'input_required' });

/** A call that may be answered with the request. */
export interface AccountCall {
  /** With the server's own state, if this is a later round. */
  request: RelayedRequest;
  /** What the client answered in this round, raw; absent in the first. */
  answers: string | undefined;
  context: CallContext;
  record: CallRecord;
}

/** Answers the call, or asks for an account instead. @throws what the call throws, if its client is not asked */
export async function orAskForAccount(
  call: AccountCall,
  answer: () => Promise<CacheAnswer>,
): Promise<CacheAnswer> {
  if (!mayAsk(call)) return answer();
  try {
    const answered = await answer();
    if ('response' in answered.reply) return answered;
    return { ...answered, reply: { messages: asking(call, answered.reply.messages) } };
  } catch (thrown) {
    return { reply: { response: await questionFor(call, thrown) } };
  }
}

async function* asking(call: AccountCall, messages: CallMessages): CallMessages {
  try {
    yield* messages;
  } catch (thrown) {
    yield await questionFor(call, thrown);
  }
}

const mayAsk = ({ request, context }: AccountCall): boolean =>
  context.questions === 'suspend' && opensLinks(context.capabilities) && isCall(request.method);

/** @throws what it was given, if no account is lacking or the person does not want to connect one */
async function questionFor(call: AccountCall, thrown: unknown): Promise<RawResponse> {
  const url = thrown instanceof ServerFailure ? linkOf(thrown.reason) : undefined;
  if (url === undefined || isDeclined(call.answers)) throw thrown;
  const { server } = thrown as ServerFailure;
  const error = await call.record.fail(thrown);
  if (error !== thrown) throw error;
  const params = { mode: 'url', message: connectText(server), url };
  const question = { method: 'elicitation/create', params };
  const members: RawObject = new Map([
    ['resultType', '"input_required"'],
    ['inputRequests', JSON.stringify({ [KEY]: question })],
  ]);
  const state = call.request.params.get('requestState');
  if (state !== undefined) members.set('requestState', state);
  return { kind: 'response', result: fromRawMembers(members), parsed: PARSED };
}

/** Whether a response is the request for an account. */
export const asksForAccount = ({ parsed }: RawResponse): boolean => parsed === PARSED;

/** Whether the person declined or cancelled it. */
function isDeclined(answers: string | undefined): boolean {
  const parsed: unknown = JSON.parse(answers ?? 'null');
  return isObject(parsed) && isRefusal(parsed[KEY]);
}

/** Whether an answer to an elicitation says that the person does not want it. */
export const isRefusal = (answer: unknown): boolean =>
  isObject(answer) && (answer['action'] === 'decline' || answer['action'] === 'cancel');

/**
 * Returns the params of the round after the request, without the answer that is for the gateway alone.
 * @throws PorticoError `invalid_params`
 */
export function withoutAccountAnswer(params: RawObject): RawObject {
  const answers = params.get('inputResponses');
  if (answers === undefined) return params;
  if (!isObject(JSON.parse(answers))) {
    throw new PorticoError('invalid_params', 'params.inputResponses must be an object');
  }
  const members = rawMembers(answers);
  members.delete(KEY);
  const copy = new Map(params);
  if (members.size === 0) copy.delete('inputResponses');
  else copy.set('inputResponses', fromRawMembers(members));
  return copy;
}
