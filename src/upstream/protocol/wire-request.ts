/**
 * Writes requests in the form of an upstream's era. Modern is the internal form: params come raw, with the caller's `_meta`; for a legacy
 * upstream the modern envelope is taken off, for a modern one it is put on. Everything else stays as the caller wrote it. Also decides by
 * the server's negotiated protocol and the client how a request is made: in which session, by the Worker or an object, and in which era.
 * Pure but for the counter of ids.
 */
import type { ServerProtocol } from '../../servers/registry/server-schema.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import {
  type Era,
  IMPLEMENTATION,
  type JsonObject,
  type LogLevel,
  META,
  MODERN_VERSION,
  type RequestId,
} from '../../shared/protocol.ts';
import type { Address } from '../endpoint.ts';
import type { CallContext } from './call.ts';
import { encodeHeaderValue } from './param-headers.ts';

/** A request on its way to an upstream; `params` are raw JSON by key. */
export interface OutboundRequest {
  method: string;
  params: RawObject;
  /** `mcp-param-*` headers of a tool call, for a modern upstream. */
  paramHeaders?: Readonly<Record<string, string>>;
  /** Headers of the trace that it is part of. */
  traceHeaders?: Readonly<Record<string, string>>;
  /** Least severe log messages the caller wants of a server that logs. */
  logLevel?: LogLevel;
  /** The caller takes tasks. */
  tasks?: boolean;
}

/** How to speak to the upstream: what the negotiation found, and the session if there is one. */
export interface NegotiatedProtocol {
  era: Era;
  /** Empty before the server has chosen one. */
  protocolVersion: string;
  /** Absent or empty if the server keeps no session. */
  sessionId?: string | undefined;
}

const ENVELOPE_KEYS = [META.protocolVersion, META.clientInfo, META.clientCapabilities];
const LEGACY_FOREIGN_KEYS = [...ENVELOPE_KEYS, META.logLevel];

/**
 * Returns `params` with the `_meta` of the upstream's era.
 * @param capabilities of the client, for an envelope that is made here; the log level likewise
 */
export function paramsFor(
  era: Era,
  params: RawObject,
  capabilities: JsonObject = {},
  logLevel?: LogLevel,
): RawObject {
  const meta = params.get('_meta');
  if (era === 'legacy') {
    if (meta === undefined) return params;
    // A key may be written with escapes: some JSON writers put `\/` for every slash.
    if (!LEGACY_FOREIGN_KEYS.some(key => meta.includes(key)) && !meta.includes('\\')) return params;
    const members = rawMembers(meta);
    const copy = new Map(params);
    // The modern era has no such parameter; a legacy server would turn the call into a task.
    if (members.has(META.protocolVersion)) copy.delete('task');
    for (const key of LEGACY_FOREIGN_KEYS) members.delete(key);
    if (members.size === 0) copy.delete('_meta');
    else copy.set('_meta', fromRawMembers(members));
    return copy;
  }
  const members: RawObject = meta === undefined ? new Map() : rawMembers(meta);
  if (members.has(META.protocolVersion)) return params;
  members.set(META.protocolVersion, JSON.stringify(MODERN_VERSION));
  members.set(META.clientInfo, JSON.stringify(IMPLEMENTATION));
  members.set(META.clientCapabilities, JSON.stringify(capabilities));
  if (logLevel) members.set(META.logLevel, JSON.stringify(logLevel));
  return new Map(params).set('_meta', fromRawMembers(members));
}

/** Returns the JSON text of a request. */
export function requestText(
  request: OutboundRequest,
  id: RequestId,
  era: Era,
  capabilities?: JsonObject,
): string {
  const params = paramsFor(era, request.params, capabilities, request.logLevel);
  const tail = params.size === 0 ? '' : `,"params":${fromRawMembers(params)}`;
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`;
  return `${head},"method":${JSON.stringify(request.method)}${tail}}`;
}

/** Returns the headers of a POST: the server's own first, so that none of them can replace the protocol's. */
export function requestHeaders(
  endpoint: Address,
  protocol: NegotiatedProtocol,
  method: string,
  name?: string,
  paramHeaders?: Readonly<Record<string, string>>,
  traceHeaders?: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = {
    ...traceHeaders,
    ...endpoint.headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  if (protocol.protocolVersion !== '') headers['mcp-protocol-version'] = protocol.protocolVersion;
  if (protocol.era === 'modern') {
    Object.assign(headers, paramHeaders);
    headers['mcp-method'] = method;
    if (name !== undefined) headers['mcp-name'] = encodeHeaderValue(name);
  } else if (protocol.sessionId) {
    headers['mcp-session-id'] = protocol.sessionId;
  }
  return headers;
}

let next: number | undefined;

/**
 * Returns a new id: fresh for every request, so ids of two clients never collide. An integer, because some servers take nothing else; the
 * start is random, so that two isolates which share an upstream session do not collide either.
 */
export function nextRequestId(): number {
  next ??= Math.floor(Math.random() * 2 ** 40);
  next += 1;
  return next;
}

/** Whether a request is a further round of a call that a server of both eras answered in the modern one, and continues there. */
export function isContinuation(
  { modernVersion }: ServerProtocol,
  { params }: OutboundRequest,
): boolean {
  return (
    modernVersion !== undefined && (params.has('inputResponses') || params.has('requestState'))
  );
}

/** Whether a request is about tasks; a task of one era is unknown in the other. */
export function isAboutTasks({ method, tasks = false }: OutboundRequest): boolean {
  return tasks || method.startsWith('tasks/');
}

/**
 * Decides who makes a call. The object: over HTTP+SSE, whose connection is the session, and if the call goes on with a suspended one or has
 * its session to itself. Either: to a legacy server that may send requests to a client which answers with its next request; if it does, the
 * call is the object's.
 */
export function callerOf(
  verdict: ServerProtocol,
  request: OutboundRequest,
  context: CallContext,
): 'worker' | 'object' | 'either' {
  if (verdict.transport === 'sse') return 'object';
  if (verdict.era !== 'legacy' || context.questions === 'ask') return 'worker';
  const isRetry = request.params.has('requestState');
  const wantsLogs = verdict.sessionful && request.logLevel !== undefined;
  if (isRetry || wantsLogs) return 'object';
  if (!maySuspend(context)) return 'worker';
  return isAboutTasks(request) ? 'object' : 'either';
}

/** Returns what a request asks of a server; requests with the same value are alike. @param name the name in the mirrored header */
export const kindOf = ({ method }: OutboundRequest, name: string | undefined): string =>
  method === 'tools/call' ? `${method} ${name}` : method;

export function hasProgressToken({ params }: OutboundRequest): boolean {
  return params.get('_meta')?.includes('progressToken') ?? false;
}

/** Whether the client of a call can answer server requests, but only with its next request. */
export function maySuspend({ capabilities, questions }: CallContext): boolean {
  return questions === 'suspend' && Object.keys(capabilities).length > 0;
}

/**
 * Whether a call needs a session to itself while it runs, because of what comes on the session's notification stream: server requests,
 * which suspend it, or the log messages that its client asked for.
 */
export function needsOwnSession(context: CallContext, wantsLogs: boolean): boolean {
  return maySuspend(context) || (context.questions === 'suspend' && wantsLogs);
}
