/**
 * Turns replies of a call into HTTP responses in the client's era. The raw result passes unchanged, except for what the reply's `toResult`
 * changes and for members that a modern client must get and a legacy server does not give (`missingMembers`).
 */
import { PorticoError, toPorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import { toRpcErrorText } from '../../shared/errors/to-json-rpc.ts';
import { toToolResultText } from '../../shared/errors/to-tool-result.ts';
import { ServerFailure } from '../../gateway/server-failure.ts';
import { idText, RPC, type Era, type JsonObject, type RequestId } from '../../shared/protocol.ts';
import type { QuestionChannel } from '../../sessions/question-channel.ts';
import type { CallContext } from '../../upstream/protocol/call.ts';
import { taskFormOf, type RawResponse } from '../../upstream/protocol/message.ts';
import { pacedResponse } from '../../http/paced-body.ts';
import { sharedBytesResponse } from '../../http/shared-bytes.ts';
import { STREAM_HEADERS, toStream } from './keep-alive-response.ts';
import { linkRequiredText, type LinkClient } from './link-required.ts';
import { asksForInput, type Relayable, relayTexts } from './relay-messages.ts';

const JSON_HEADERS = { 'content-type': 'application/json' };
/** Result types of the core protocol and of the tasks extension; all other types belong to other extensions. */
const KNOWN_RESULT_TYPES = new Set<unknown>(['complete', 'input_required', 'task']);

/** Errors of servers that reach a modern client with status 400, as the transport requires. */
const REFUSED_WITH_400 = new Set<unknown>([RPC.headerMismatch, RPC.missingClientCapability]);
const OTHER_VERSION = 'The server speaks another protocol version than before';

const encoder = new TextEncoder();
/** The end of a response with a result. */
const END = encoder.encode('}');

/** Returns the JSON text of a response with a raw result. */
function resultText(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`;
}

/** Makes a response with a raw result. */
export function resultResponse(id: RequestId, result: string, headers = {}): Response {
  return new Response(resultText(id, result), { headers: { ...JSON_HEADERS, ...headers } });
}

/** Does the same with a result that is already UTF-8, which matters where it is large. */
export function resultBytesResponse(
  id: RequestId,
  result: Uint8Array,
  { waitUntil, bytes }: Pick<CallContext, 'waitUntil' | 'bytes'>,
): Response {
  const head = encoder.encode(`{"jsonrpc":"2.0","id":${idText(id)},"result":`);
  return sharedBytesResponse([head, result, END], { headers: JSON_HEADERS }, waitUntil, bytes);
}

/** Members that a modern result of a method must have and a legacy server does not give. */
function missingMembers(method: string): string {
  const caching = method === 'resources/read' ? ',"ttlMs":0,"cacheScope":"private"' : '';
  return `"resultType":"complete"${caching}`;
}

/** Puts the members that a modern client must get in front of a raw result. */
function completed(result: string, method: string): string {
  const rest = result.slice(result.indexOf('{') + 1);
  return `{${missingMembers(method)}${/^\s*\}/.test(rest) ? '' : ','}${rest}`;
}

/** Makes the response to a call of a tool of the gateway's own. */
export function ownResultResponse({ id, method, era }: AnsweredRequest, result: string): Response {
  return resultResponse(id, era === 'modern' ? completed(result, method) : result);
}

export interface AnsweredRequest {
  id: RequestId;
  method: string;
  era: Era;
  /** The form of tasks that the client accepts; absent where it accepts none. */
  tasks?: Era | undefined;
  /** The client that a failure is reported to; where absent, one that accepts no links. */
  client?: LinkClient;
}

/** Returns the JSON text of an upstream's response for the client. */
function responseText(response: RawResponse, answered: AnsweredRequest, routed: Relayable) {
  const { toResult } = routed;
  const { id, era, method } = answered;
  if ('error' in response) {
    const replaced = routed.toRefusedResult?.(response.parsed);
    if (replaced !== undefined)
      return resultText(id, era === 'modern' ? completed(replaced, method) : replaced);
    // A modern client would take it for the gateway's, which does speak its version, and change its own.
    if (era === 'modern' && response.parsed['code'] === RPC.unsupportedProtocolVersion) {
      return replacedText('upstream_4xx', answered, routed, OTHER_VERSION);
    }
    return `{"jsonrpc":"2.0","id":${idText(id)},"error":${response.error}}`;
  }
  const { resultType } = response.parsed;
  const takesAll = routed.takesOtherTypes && era === 'modern' && typeof resultType === 'string';
  const isUnknown = resultType !== undefined && !KNOWN_RESULT_TYPES.has(resultType) && !takesAll;
  if (isUnknown || isUnwantedTask(response.parsed, answered)) {
    return replacedText('upstream_bad_message', answered, routed);
  }
  if (era === 'legacy' && resultType === 'input_required') {
    return replacedText('upstream_needs_input', answered, routed);
  }
  const isWhole = resultType === undefined || resultType === 'complete';
  const result = toResult && isWhole ? toResult(response.result, response.parsed) : response.result;
  const isLegacyResult = era === 'modern' && resultType === undefined;
  return resultText(id, isLegacyResult ? completed(result, method) : result);
}

/** Returns the error that a client gets in place of a response that it could not use. */
function replacedText(
  code: ErrorCode,
  answered: AnsweredRequest,
  { server, onReplaced }: Relayable,
  detail?: string,
): string {
  onReplaced?.(code);
  return failureText(new PorticoError(code, detail), answered, server.name);
}

/** Whether a result is a task of a form that the client did not ask for and so cannot use. */
function isUnwantedTask(result: JsonObject, { method, tasks }: AnsweredRequest): boolean {
  if (method !== 'tools/call') return false;
  const form = taskFormOf(result);
  return form !== undefined && form !== tasks;
}

/** Returns a server's failure: as a tool result where a tool was called, else as an error. */
function failureText(error: PorticoError, answered: AnsweredRequest, server: string): string {
  const { id, method, era, client } = answered;
  const link = linkRequiredText(error, id, server, client);
  if (link !== undefined) return link;
  if (method !== 'tools/call') {
    const named = new PorticoError(error.code, `${server}: ${error.message}`, error.extras);
    return toRpcErrorText(named, id, era);
  }
  const result = toToolResultText(error, server);
  return resultText(id, era === 'modern' ? completed(result, method) : result);
}

/** Turns a thrown value into a response: in-band, with 200. */
export function thrownResponse(thrown: unknown, answered: AnsweredRequest): Response {
  return new Response(thrownText(thrown, answered), { headers: JSON_HEADERS });
}

/** The same as JSON text. */
export function thrownText(thrown: unknown, answered: AnsweredRequest): string {
  if (thrown instanceof ServerFailure) {
    return failureText(thrown.reason, answered, thrown.server.name);
  }
  const error = toPorticoError(thrown);
  const server = error.extras.data?.['server'];
  if (!error.entry.toolResult) return toRpcErrorText(error, answered.id, answered.era);
  return failureText(error, answered, (server as { name?: string } | undefined)?.name ?? 'server');
}

/** How a client accepts responses, and the channel for its answers to server requests. */
export interface Taking {
  acceptsStream: boolean;
  /** Present for a legacy client in a session that declared which server requests it can answer. */
  openChannel?: (() => Promise<QuestionChannel>) | undefined;
  context: Pick<CallContext, 'capabilities' | 'bytes'>;
}

/** Responds with the reply of a request. Streams where the upstream streams and the client accepts streams. */
export async function replyResponse(
  routed: Relayable,
  answered: AnsweredRequest,
  { acceptsStream, openChannel: open, context }: Taking,
): Promise<Response> {
  const { reply } = routed;
  // A server request is written on the stream of its call.
  const openChannel = acceptsStream ? open : undefined;
  const mustAskClient = openChannel && 'response' in reply && asksForInput(reply.response);
  if ('response' in reply && !mustAskClient) {
    const isRefusal =
      answered.era === 'modern' &&
      'error' in reply.response &&
      REFUSED_WITH_400.has(reply.response.parsed['code']);
    const init = { status: isRefusal ? 400 : 200, headers: JSON_HEADERS };
    return pacedResponse([responseText(reply.response, answered, routed)], init, context.bytes);
  }
  const toText = (response: RawResponse) => responseText(response, answered, routed);
  const relayed = { routed, openChannel, toText, capabilities: context.capabilities };
  const texts = failingClearly(relayTexts(relayed), answered, routed);
  if (!acceptsStream) {
    return pacedResponse([await lastOf(texts)], { headers: JSON_HEADERS }, context.bytes);
  }
  // A refusal before any message gets a status of its own.
  const first = await texts.next();
  const stream = toStream(startingWith(first, texts), context.bytes);
  return new Response(stream, { headers: STREAM_HEADERS });
}

type Texts = AsyncGenerator<string, void, undefined>;

async function lastOf(texts: Texts): Promise<string> {
  let last = '';
  for await (const text of texts) last = text;
  return last;
}

async function* startingWith(first: IteratorResult<string, void>, rest: Texts): Texts {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}

/** Yields the texts; a thrown error becomes the response, in the form the client expects. */
async function* failingClearly(texts: Texts, answered: AnsweredRequest, routed: Relayable): Texts {
  const { server, onReplaced } = routed;
  let hasBegun = false;
  try {
    for await (const text of texts) {
      hasBegun = true;
      yield text;
    }
  } catch (thrown) {
    const reason = thrown instanceof ServerFailure ? thrown.reason : toPorticoError(thrown);
    onReplaced?.(reason.code);
    if (reason.entry.toolResult) yield failureText(reason, answered, server.name);
    else if (hasBegun) yield toRpcErrorText(reason, answered.id, answered.era);
    else throw reason;
  }
}
