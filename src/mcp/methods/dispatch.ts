/**
 * Serves the methods that both eras share: lists come from the catalog, other requests are relayed to the one server they are about.
 * Methods in neither table are unknown here.
 */
import type { RequestContext } from '../request-context.ts';
import type { Reference } from '../../gateway/listing.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import type { ToolsShown } from '../../access/policy/toolset.ts';
import { KIND_FACTS, KINDS, type Kind } from '../../servers/catalog/catalog.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { RawObject } from '../../shared/json/json-spans.ts';
import { isObject, type Era, type RpcRequest } from '../../shared/protocol.ts';
import type { RelayedMethod } from '../../upstream/protocol/call.ts';
import {
  ownResultResponse,
  replyResponse,
  resultBytesResponse,
  thrownText,
} from '../reply/response.ts';
import type { AnsweredRequest } from '../reply/response.ts';
import { answerAsk } from '../own-tools/ask-calls.ts';
import { ASK_NAME, askListResult } from '../own-tools/ask-tool.ts';
import { startChat } from '../own-tools/chat-calls.ts';
import { CHAT_NAME, chatListResult } from '../own-tools/chat-tool.ts';
import { listResult } from '../reply/list-result.ts';
import { mendOf, notFoundText, toMetaCall } from '../own-tools/meta-calls.ts';
import { metaListResult } from '../own-tools/meta-tools.ts';
import type { OwnList } from '../own-tools/own-tools.ts';
import type { Relayable } from '../reply/relay-messages.ts';
import { keepAliveResponse } from '../reply/keep-alive-response.ts';
import { isAboutTask, taskReference, wantedTasks } from './era-forms.ts';

/** Lists of endpoints that do not list the servers' tools. */
const OWN_LISTS: Record<Exclude<ToolsShown, 'all'>, OwnList> = {
  search: metaListResult,
  ask: askListResult,
  chat: chatListResult,
};

const LISTS: ReadonlyMap<string, Kind> = new Map(
  KINDS.map(kind => [KIND_FACTS[kind].method, kind]),
);

const RELAYED: ReadonlyMap<string, (request: RpcRequest) => Reference> = new Map([
  ['tools/call', toolReference],
  ['prompts/get', request => ({ kind: 'prompt', name: text(request, 'name') })],
  ['resources/read', request => ({ kind: 'resource', name: text(request, 'uri') })],
  ['completion/complete', completionReference],
]);

/** Whether a method is relayed to a server, so that it may take long. */
export function isRelayed(method: string): boolean {
  return RELAYED.has(method) || isAboutTask(method);
}

/**
 * Serves a shared method.
 * @param params raw params of the request
 * @returns undefined where the method is not shared
 */
export async function handleShared(
  requestContext: RequestContext,
  request: RpcRequest,
  params: RawObject,
  era: Era,
): Promise<Response | undefined> {
  const { gateway, viewer, pageSize } = requestContext;
  const { tools } = viewer;
  const kind = LISTS.get(request.method);
  if (kind === 'tools' && tools !== 'all') {
    requireScope(viewer.caller, 'tools:read');
    const result = OWN_LISTS[tools](cursorOf(request), era);
    return resultBytesResponse(request.id, result, requestContext.context);
  }
  if (kind) {
    const list = await gateway.list(viewer, kind);
    const result = listResult(list, kind, cursorOf(request), pageSize, era);
    return resultBytesResponse(request.id, result, requestContext.context);
  }
  if (isCallOf(ASK_NAME, requestContext, request)) return callAsk(requestContext, request, era);
  if (isCallOf(CHAT_NAME, requestContext, request)) return chat(requestContext, request, era);
  const meta =
    tools === 'search' ? await toMetaCall(requestContext, request, params, era) : undefined;
  if (!meta) return relay(requestContext, request, params, era);
  const answered = { id: request.id, method: request.method, era };
  if ('result' in meta) return ownResultResponse(answered, meta.result);
  // The client's mirrored headers are about the arguments of `call_tool`.
  const { readHeader: _mirrored, ...rest } = requestContext;
  const name = text(meta.request, 'name');
  return relay(rest, meta.request, meta.params, era, {
    rescue: async thrown =>
      ownResultResponse(answered, await notFoundText(requestContext, thrown, name)),
    mend: mendOf(requestContext, meta),
  });
}

/** Whether a request calls the one tool that the endpoint lists and is named after. */
function isCallOf(
  name: string,
  { viewer }: RequestContext,
  { method, params }: RpcRequest,
): boolean {
  return viewer.tools === name && method === 'tools/call' && params?.['name'] === name;
}

/** Answers a call of `chat`. */
function chat(requestContext: RequestContext, request: RpcRequest, era: Era): Promise<Response> {
  const answered = { id: request.id, method: request.method, era };
  requestContext.context.operation?.is({ tool: CHAT_NAME });
  const responding = startChat(requestContext, request, era).then(reply =>
    replyResponse(reply, answered, requestContext),
  );
  return whenReady(responding, answered, requestContext);
}

function callAsk(requestContext: RequestContext, request: RpcRequest, era: Era): Promise<Response> {
  const answered = { id: request.id, method: request.method, era };
  requestContext.context.operation?.is({ tool: ASK_NAME });
  const responding = answerAsk(requestContext, request, era).then(result =>
    ownResultResponse(answered, result),
  );
  return whenReady(responding, answered, requestContext);
}

/** Returns a response that may take long. Where the client accepts a stream, the stream begins before the response is ready. */
async function whenReady(
  responding: Promise<Response>,
  answered: AnsweredRequest,
  { acceptsStream, context }: RequestContext,
): Promise<Response> {
  if (!acceptsStream) return responding;
  const giveBack = context.bytes?.retain() ?? (() => {});
  const over = context.operation?.hold() ?? (() => {});
  const release = () => {
    giveBack();
    over();
  };
  responding.then(release, release);
  return keepAliveResponse(responding, thrown => thrownText(thrown, answered), context.timers);
}

/** What differs for a call that came through `call_tool`. */
interface Through {
  /** Answers a refusal by the gateway, or throws it again. */
  rescue(thrown: unknown): Promise<Response>;
  /** Adds to a failed result what a model needs to correct the call. */
  mend(routed: Relayable): Promise<Relayable>;
}

async function relay(
  requestContext: RequestContext,
  request: RpcRequest,
  params: RawObject,
  era: Era,
  through?: Through,
): Promise<Response | undefined> {
  const { gateway, viewer, context, readHeader, logLevel, cache, version } = requestContext;
  const reference = await referenceOf(requestContext, request, era);
  if (!reference) return undefined;
  const method = request.method as RelayedMethod;
  const tasks = tasksOf(request, reference, era);
  const header = readHeader ? { readHeader } : {};
  const from = { source: era, version, ...header };
  const again = async () => (await requestContext.listening.now()).viewer;
  const relayed = { method, reference, params, logLevel, tasks, cache, again, ...from };
  const answered = { id: request.id, method, era, tasks, client: requestContext };
  // The raw params are sent: a waiting call keeps no parsed copy in memory.
  delete request.params;
  requestContext.dropParsed?.();
  const responding = gateway
    .request(viewer, relayed, context)
    .then(through?.mend)
    .then(routed => replyResponse(routed, answered, requestContext))
    .catch(through?.rescue);
  return whenReady(responding, answered, requestContext);
}

/** Returns what a request refers to. A malformed reference is refused, and the refusal is recorded. */
async function referenceOf(
  { gateway, viewer, context }: RequestContext,
  request: RpcRequest,
  source: Era,
): Promise<Reference | undefined> {
  const { method } = request;
  try {
    return RELAYED.get(method)?.(request) ?? taskReference(request, source);
  } catch (thrown) {
    await gateway.refused(viewer.caller, { method, thrown, source }, context.waitUntil);
    throw thrown;
  }
}

/** Returns the form of tasks that a request may use; undefined where it may use none, as most. */
function tasksOf(request: RpcRequest, { kind }: Reference, era: Era): Era | undefined {
  if (kind === 'task') return era;
  return request.method === 'tools/call' ? wantedTasks(request, era) : undefined;
}

function cursorOf(request: RpcRequest): string | undefined {
  const cursor = request.params?.['cursor'];
  if (cursor === undefined || typeof cursor === 'string') return cursor;
  throw new PorticoError('invalid_params', 'The cursor must be a string');
}

function toolReference(request: RpcRequest): Reference {
  const given = request.params?.['arguments'];
  if (given !== undefined && !isObject(given)) {
    throw new PorticoError('invalid_params', 'params.arguments must be an object');
  }
  return { kind: 'tool', name: text(request, 'name') };
}

function text(request: RpcRequest, member: string): string {
  const value = request.params?.[member];
  if (typeof value === 'string' && value !== '') return value;
  throw new PorticoError('invalid_params', `params.${member} must be a string`);
}

function completionReference(request: RpcRequest): Reference {
  const ref = request.params?.['ref'];
  if (isObject(ref) && ref['type'] === 'ref/prompt' && typeof ref['name'] === 'string') {
    return { kind: 'prompt', name: ref['name'] };
  }
  if (isObject(ref) && ref['type'] === 'ref/resource' && typeof ref['uri'] === 'string') {
    return { kind: 'resource', name: ref['uri'] };
  }
  throw new PorticoError('invalid_params', 'params.ref must be a ref/prompt or a ref/resource');
}
