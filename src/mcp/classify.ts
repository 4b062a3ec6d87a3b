/**
 * Decides once, at the border, which era a POST belongs to and whether its envelope and its mirrored headers are valid. The body decides
 * the era; headers are checked against the body and never change the era. Pure; throws PorticoError for messages that are refused.
 *
 * Source: MCP 2026-07-28, Streamable HTTP (Request Metadata, Server Validation) and basic/index.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { decodeHeaderValue } from '../upstream/protocol/param-headers.ts';
import {
  isObject,
  isRequestId,
  META,
  MODERN_VERSION,
  type JsonObject,
  type RpcRequest,
} from '../shared/protocol.ts';
import { checkNames } from './params.ts';

/** The request headers that classification reads; null where absent. */
export interface ProtocolHeaders {
  version: string | null;
  method: string | null;
  name: string | null;
}

export type Classified =
  | { era: 'modern'; kind: 'request'; request: RpcRequest }
  | { era: 'modern'; kind: 'notification' }
  | { era: 'legacy'; kind: 'request'; request: RpcRequest }
  | { era: 'legacy'; kind: 'notification' }
  | { era: 'legacy'; kind: 'response' }
  | { era: 'legacy'; kind: 'batch'; messages: unknown[] };

/** Whether a version header or `_meta` key claims the modern era. */
export const isModernVersion = (version: string) => version >= MODERN_VERSION;

/** The member of `params` that the `Mcp-Name` header repeats, by method. */
const NAMED: ReadonlyMap<string, 'name' | 'uri' | 'taskId'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** @throws PorticoError `invalid_request`, `invalid_params`, `header_mismatch`, … */
export function classify(body: unknown, headers: ProtocolHeaders): Classified {
  if (Array.isArray(body)) return classifyBatch(body);
  if (!isObject(body) || body['jsonrpc'] !== '2.0') {
    throw new PorticoError('invalid_request', 'The body is not a JSON-RPC 2.0 message');
  }
  const { method, params } = body;
  if (typeof method !== 'string') {
    if (isRequestId(body['id']) && ('result' in body || 'error' in body)) {
      return { era: 'legacy', kind: 'response' };
    }
    throw new PorticoError('invalid_request', 'The message has no method');
  }
  if (params !== undefined && !isObject(params)) {
    throw new PorticoError('invalid_request', 'params must be an object');
  }
  if (!('id' in body)) return classifyNotification(method, params, headers);
  if (!isRequestId(body['id'])) {
    throw new PorticoError('invalid_request', 'The id must be a string or an integer');
  }
  return classifyRequest(body as unknown as RpcRequest, headers);
}

function metaOf(params: JsonObject | undefined): JsonObject | undefined {
  const meta = params?.['_meta'];
  return isObject(meta) ? meta : undefined;
}

function classifyRequest(request: RpcRequest, headers: ProtocolHeaders): Classified {
  checkNames(request);
  const meta = metaOf(request.params);
  const claim = meta?.[META.protocolVersion];
  const claimsModern = typeof claim === 'string' && isModernVersion(claim);
  const headerIsModern = headers.version !== null && isModernVersion(headers.version);
  if (request.method === 'initialize' && !claimsModern) {
    if (headerIsModern) throw mismatch('initialize belongs to the versions before 2026-07-28');
    return { era: 'legacy', kind: 'request', request };
  }
  if (claim === undefined) {
    if (!headerIsModern) return { era: 'legacy', kind: 'request', request };
    throw new PorticoError('invalid_params', `_meta must hold ${META.protocolVersion}`);
  }
  checkEnvelope(meta ?? {});
  checkHeaders(request, String(claim), headers);
  return { era: 'modern', kind: 'request', request };
}

function checkEnvelope(meta: JsonObject): void {
  if (typeof meta[META.protocolVersion] !== 'string') {
    throw new PorticoError('invalid_params', `${META.protocolVersion} must be a string`);
  }
  if (!isObject(meta[META.clientCapabilities])) {
    throw new PorticoError('invalid_params', `_meta must hold ${META.clientCapabilities}`);
  }
  const info = meta[META.clientInfo];
  if (info !== undefined && !isObject(info)) {
    throw new PorticoError('invalid_params', `${META.clientInfo} must be an object`);
  }
}

function checkHeaders(request: RpcRequest, version: string, headers: ProtocolHeaders): void {
  if (headers.version === null) throw mismatch('the MCP-Protocol-Version header is missing');
  if (headers.version !== version) {
    throw mismatch(`MCP-Protocol-Version is ${headers.version}, the body says ${version}`);
  }
  if (version !== MODERN_VERSION) {
    throw new PorticoError('unsupported_protocol_version', undefined, {
      data: { supported: [MODERN_VERSION], requested: version },
    });
  }
  if (headers.method === null) throw mismatch('the Mcp-Method header is missing');
  if (headers.method !== request.method) {
    throw mismatch(`Mcp-Method is ${headers.method}, the body says ${request.method}`);
  }
  const source = NAMED.get(request.method);
  if (source === undefined) return;
  const name = headers.name === null ? null : decodeHeaderValue(headers.name);
  if (name === undefined) throw mismatch('the Mcp-Name header is not valid');
  const named = request.params?.[source];
  if (typeof named !== 'string') return;
  if (name === null) throw mismatch('the Mcp-Name header is missing');
  if (name !== named.toWellFormed())
    throw mismatch(`Mcp-Name does not match params.${source} of the body`);
}

function mismatch(detail: string): PorticoError {
  return new PorticoError('header_mismatch', `Header mismatch: ${detail}`);
}

function classifyNotification(
  method: string,
  params: JsonObject | undefined,
  headers: ProtocolHeaders,
): Classified {
  const claim = metaOf(params)?.[META.protocolVersion];
  if (claim !== undefined && typeof claim !== 'string') {
    throw new PorticoError('invalid_params', `${META.protocolVersion} must be a string`);
  }
  if (claim !== undefined && headers.version !== null && headers.version !== claim) {
    throw mismatch(`MCP-Protocol-Version is ${headers.version}, the body says ${claim}`);
  }
  const version = claim ?? headers.version;
  if (version === null || !isModernVersion(version)) return { era: 'legacy', kind: 'notification' };
  if (headers.method !== null && headers.method !== method) {
    throw mismatch(`Mcp-Method is ${headers.method}, the body says ${method}`);
  }
  return { era: 'modern', kind: 'notification' };
}

/**
 * Only 2025-03-26 has batches. One modern or invalid message refuses the whole batch, so that no part of it has been dispatched by then.
 */
function classifyBatch(messages: unknown[]): Classified {
  if (messages.length === 0) throw new PorticoError('invalid_request', 'The batch is empty');
  for (const message of messages) {
    const params = isObject(message) ? message['params'] : undefined;
    if (isObject(params) && metaOf(params)?.[META.protocolVersion] !== undefined) {
      throw new PorticoError('invalid_request', 'A batch may not hold a 2026-07-28 request');
    }
    if (Array.isArray(message))
      throw new PorticoError('invalid_request', 'A batch may not contain a batch');
    classify(message, { version: null, method: null, name: null });
  }
  return { era: 'legacy', kind: 'batch', messages };
}
