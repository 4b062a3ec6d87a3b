/**
 * Requests of the legacy era (2024-11-05 to 2025-11-25) on Streamable HTTP. They are translated here, once: below this file nothing asks
 * for a version. Errors of a request are in-band, with 200.
 */
import type { RequestContext } from '../request-context.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import { toRpcErrorText } from '../../shared/errors/to-json-rpc.ts';
import type { JsonBody } from '../../http/json-body.ts';
import { pacedResponse } from '../../http/paced-body.ts';
import { rawElements, withExactIds } from '../../shared/json/json-spans.ts';
import {
  IMPLEMENTATION,
  isObject,
  isRequestId,
  LATEST_LEGACY_VERSION,
  LEGACY_VERSIONS,
  type RequestId,
  type RpcRequest,
} from '../../shared/protocol.ts';
import { resultResponse } from '../reply/response.ts';
import { classify, type Classified } from '../classify.ts';
import { setLogLevel } from '../methods/era-forms.ts';
import { toOwnAdvertised } from '../own-tools/own-advertised.ts';
import { answerRequest, type EraMethods } from '../methods/answer.ts';
import { subscribe } from './subscribe.ts';

const MAX_BATCH = 50;
const SUBSCRIPTIONS = new Set(['resources/subscribe', 'resources/unsubscribe']);

/**
 * Returns the version to answer `initialize` with: the client's where it is known, else the newest legacy one.
 * @throws PorticoError `invalid_params` where the client names none
 */
export function negotiatedVersion(request: RpcRequest): string {
  const wanted = request.params?.['protocolVersion'];
  if (typeof wanted !== 'string') {
    throw new PorticoError('invalid_params', 'params.protocolVersion must be a string');
  }
  return LEGACY_VERSIONS.includes(wanted) ? wanted : LATEST_LEGACY_VERSION;
}

/** The one revision that has batches; 2025-06-18 removed them. */
const BATCH_VERSION = '2025-03-26';

/**
 * Checks that a batch is allowed. The revision of the session decides, else that of the header, else 2025-03-26, which a server assumes
 * without a header (2025-06-18, Streamable HTTP).
 * @throws PorticoError `invalid_request`
 */
export function checkBatch(...versions: readonly (string | null | undefined)[]): void {
  if (versions.every(version => (version ?? BATCH_VERSION) === BATCH_VERSION)) return;
  throw new PorticoError('invalid_request', `Batches belong to ${BATCH_VERSION} only`);
}

/** The response to `initialize`, with the id of the session just opened. */
export async function initializeResponse(
  { gateway, viewer }: RequestContext,
  request: RpcRequest,
  protocolVersion: string,
  sealedId: string,
): Promise<Response> {
  // In the legacy era, only the last revision has tasks.
  const tasks = protocolVersion === LATEST_LEGACY_VERSION ? 'legacy' : undefined;
  const advertised = await gateway.advertise(viewer, tasks);
  const own = await toOwnAdvertised(gateway, advertised, viewer);
  const result = { protocolVersion, serverInfo: IMPLEMENTATION, ...own };
  return resultResponse(request.id, JSON.stringify(result), { 'mcp-session-id': sealedId });
}

const LEGACY: EraMethods = {
  era: 'legacy',
  refusedWithStatus: new Set<ErrorCode>(['forbidden', 'session_required']),
  handleOwn(requestContext, request) {
    const { id, method } = request;
    if (method === 'ping') return resultResponse(id, '{}');
    if (method === 'logging/setLevel') return setLogLevel(requestContext, request);
    if (SUBSCRIPTIONS.has(method)) return subscribe(requestContext, request);
    return undefined;
  },
};

/** @param text the raw request */
export function handleLegacy(
  requestContext: RequestContext,
  request: RpcRequest,
  text: string,
): Promise<Response> {
  return answerRequest(requestContext, request, text, LEGACY);
}

/** Takes a message that is no request. */
type Hear = (kind: Classified['kind'], message: JsonBody) => Promise<unknown>;

/**
 * Answers every request of a 2025-03-26 batch, in one array.
 * @param text the raw batch
 * @param hear takes the other messages; an answer that no call waits for is ignored
 */
export async function handleBatch(
  requestContext: RequestContext,
  text: string,
  hear: Hear,
): Promise<Response> {
  const elements = rawElements(text);
  if (elements.length > MAX_BATCH) {
    throw new PorticoError('invalid_request', `A batch may hold ${MAX_BATCH} messages at most`);
  }
  const answers = await Promise.all(
    elements.map(element => answerOne(requestContext, element, hear)),
  );
  const given = answers.filter(answer => answer !== undefined);
  if (given.length === 0) return new Response(null, { status: 202 });
  const headers = { 'content-type': 'application/json' };
  return pacedResponse([`[${given.join(',')}]`], { headers }, requestContext.context.bytes);
}

async function answerOne(
  requestContext: RequestContext,
  element: string,
  hear: Hear,
): Promise<string | undefined> {
  const message = withExactIds(JSON.parse(element), element);
  const classified = classify(message, { version: null, method: null, name: null });
  if (classified.kind !== 'request') {
    await hear(classified.kind, { json: message, text: element });
    return undefined;
  }
  const { request } = classified;
  if (request.method === 'initialize') {
    const error = new PorticoError('invalid_request', 'initialize may not be part of a batch');
    return toRpcErrorText(error, request.id, 'legacy');
  }
  const response = await handleLegacy(
    { ...requestContext, acceptsStream: false },
    request,
    element,
  );
  return response.text();
}

/** Returns the id of the request that a cancellation names; undefined for any other message. */
export function cancelledRequest(message: unknown): RequestId | undefined {
  if (!isObject(message) || message['method'] !== 'notifications/cancelled') return undefined;
  const id = isObject(message['params']) ? message['params']['requestId'] : undefined;
  return isRequestId(id) ? id : undefined;
}

/** @throws PorticoError `invalid_request` where the header names an unknown revision */
export function checkLegacyVersion(headers: Pick<Headers, 'get'>): void {
  const version = headers.get('mcp-protocol-version');
  if (version !== null && !LEGACY_VERSIONS.includes(version)) {
    throw new PorticoError('invalid_request', `Unsupported protocol version: ${version}`);
  }
}
