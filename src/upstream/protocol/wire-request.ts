/**
 * Requests as an upstream of either era wants them. Modern is the internal form: params come raw,
 * with the caller's `_meta`; for a legacy upstream the modern envelope is taken off, for a modern
 * one it is put on. Everything else stays as the caller wrote it. Pure but for the counter of ids.
 */
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import {
  IMPLEMENTATION,
  META,
  MODERN_VERSION,
  type Era,
  type JsonObject,
  type LogLevel,
  type RequestId,
} from '../../shared/protocol.ts';
import { encodeHeaderValue } from './param-headers.ts';
import type { Address } from '../endpoint.ts';

/** A request on its way to an upstream; `params` are raw JSON by key. */
export interface OutboundRequest {
  method: string;
  params: RawObject;
  /** `mcp-param-*` headers of a tool call, for a modern upstream. */
  paramHeaders?: Readonly<Record<string, string>>;
  /** Headers that name the trace it is part of. */
  traceHeaders?: Readonly<Record<string, string>>;
  /** Least severe log messages the caller wants of a server that logs. */
  logLevel?: LogLevel;
  /** The caller hears of tasks. */
  tasks?: boolean;
}

/** How to speak to the upstream: what negotiation found, and the session if there is one. */
export interface NegotiatedProtocol {
  era: Era;
  protocolVersion: string;
  /** Absent or empty where the server keeps no session. */
  sessionId?: string | undefined;
}

const ENVELOPE_KEYS = [META.protocolVersion, META.clientInfo, META.clientCapabilities];
const LEGACY_FOREIGN_KEYS = [...ENVELOPE_KEYS, META.logLevel];

/**
 * `params` with the `_meta` the upstream's era wants.
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
    // A key may be written with escapes: `\/` is how some JSON writers put every slash.
    if (!LEGACY_FOREIGN_KEYS.some(key => meta.includes(key)) && !meta.includes('\\')) return params;
    const members = rawMembers(meta);
    const copy = new Map(params);
    // The modern era has no such parameter; a legacy server would make a task of the call.
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

/** JSON text of a request. */
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

/** Headers of a POST: the server's own first, so that none of them can replace the protocol's. */
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
    'mcp-protocol-version': protocol.protocolVersion,
  };
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
 * A new id: fresh for every request, so equal ids of two clients never meet. An integer, because some servers take nothing else; the
 * start is random, so that two isolates which share an upstream session do not meet either.
 */
export function nextRequestId(): number {
  next ??= Math.floor(Math.random() * 2 ** 40);
  next += 1;
  return next;
}
