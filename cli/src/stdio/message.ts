/**
 * Finds out what a line of the host is (request, notification, response or batch) and its era. The line itself is forwarded unchanged; what
 * is read here only decides its destination and headers. Pure.
 *
 * Source: MCP 2026-07-28 and 2025-11-25, stdio.
 */
import { parseId, withExactIds } from '../../../src/shared/json/json-spans.ts';
import {
  isObject,
  isRequestId,
  META,
  MODERN_VERSION,
  RPC,
  type Era,
  type JsonObject,
  type RequestId,
} from '../../../src/shared/protocol.ts';

interface Envelope {
  text: string;
  method: string;
  params: JsonObject;
  era: Era;
  /** Protocol revision named in the message; undefined where it names none. */
  version: string | undefined;
}

export type HostRequest = Envelope & { kind: 'request'; id: RequestId };
export type HostNotification = Envelope & { kind: 'notification' };
export type HostMessage =
  | HostRequest
  | HostNotification
  /** The response to a server request. */
  | { kind: 'response'; text: string }
  /** A batch of 2025-03-26; `ids` are those of its requests. */
  | { kind: 'batch'; text: string; ids: readonly RequestId[] }
  | { kind: 'refused'; id: RequestId | null; code: number; reason: string };

/** Parses one line. Never throws. */
export function parseMessage(text: string): HostMessage {
  let message: unknown;
  try {
    message = withExactIds(JSON.parse(text), text);
  } catch {
    return refused(null, RPC.parseError, 'the line is not JSON');
  }
  if (Array.isArray(message)) {
    if (message.length === 0) return refused(null, RPC.invalidRequest, 'the batch is empty');
    const ids = message.flatMap(each => (isObject(each) && 'method' in each ? [each['id']] : []));
    return { kind: 'batch', text, ids: ids.filter(isRequestId) };
  }
  if (!isObject(message) || message['jsonrpc'] !== '2.0') {
    return refused(null, RPC.invalidRequest, 'the line is not a JSON-RPC 2.0 message');
  }
  const { id, method, params = {} } = message;
  if (typeof method !== 'string') {
    const isAnswer = isRequestId(id) && ('result' in message || 'error' in message);
    if (isAnswer) return { kind: 'response', text };
    return refused(isRequestId(id) ? id : null, RPC.invalidRequest, 'the message has no method');
  }
  if (!isObject(params)) {
    return refused(isRequestId(id) ? id : null, RPC.invalidRequest, 'params must be an object');
  }
  const meta = params['_meta'];
  const claim = isObject(meta) ? meta[META.protocolVersion] : undefined;
  const version = typeof claim === 'string' ? claim : undefined;
  const isModern = version !== undefined && version >= MODERN_VERSION;
  const envelope = { text, method, params, version, era: isModern ? 'modern' : 'legacy' } as const;
  if (!('id' in message)) return { kind: 'notification', ...envelope };
  if (isRequestId(id)) return { kind: 'request', id, ...envelope };
  return refused(null, RPC.invalidRequest, 'the id must be a string or an integer');
}

function refused(id: RequestId | null, code: number, reason: string): HostMessage {
  return { kind: 'refused', id, code, reason };
}

/** Id of the request that a notification cancels. */
export function cancelledId({ method, params }: HostNotification): RequestId | undefined {
  const id = params['requestId'];
  return method === 'notifications/cancelled' && isRequestId(id) ? id : undefined;
}

const ID = String.raw`("(?:[^"\\]|\\.)*"|-?\d{1,1000})`;
const HEAD = new RegExp(
  String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${ID}\s*,\s*"method"`,
);
const STARTS_WITH_METHOD = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"/;
const TAIL = new RegExp(String.raw`"id"\s*:\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

/**
 * Id of a request of which only both ends are known; null where they do not show the id, or that it is a request. A response is never taken
 * for a request.
 */
export function idFromEnds(head: string, tail: string): RequestId | null {
  const raw =
    HEAD.exec(head)?.[1] ?? (STARTS_WITH_METHOD.test(head) ? TAIL.exec(tail)?.[1] : undefined);
  if (raw === undefined) return null;
  try {
    const id = parseId(raw);
    return isRequestId(id) ? id : null;
  } catch {
    return null;
  }
}
