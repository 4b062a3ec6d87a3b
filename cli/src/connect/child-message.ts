/**
 * Parses a child's message and keeps the raw text of every member, so that one can be replaced while the others pass unchanged. Source:
 * JSON-RPC 2.0; MCP 2025-11-25 and 2026-07-28, basic. Pure.
 */
import {
  fromRawMembers,
  rawMembers,
  type RawObject,
  withExactIds,
} from '../../../src/shared/json/json-spans.ts';
import {
  idText,
  isObject,
  isRequestId,
  type JsonObject,
  type RequestId,
} from '../../../src/shared/protocol.ts';

export type ChildMessage =
  | { kind: 'response'; id: RequestId; raw: RawObject; isError: boolean; body: JsonObject }
  | { kind: 'request'; id: RequestId; method: string; raw: RawObject; params: JsonObject }
  | { kind: 'notification'; method: string; raw: RawObject; params: JsonObject };

/** @returns undefined where the line is not a message */
export function readMessage(line: string): ChildMessage | undefined {
  let json: unknown;
  try {
    json = withExactIds(JSON.parse(line), line);
  } catch {
    return undefined;
  }
  if (!isObject(json) || json['jsonrpc'] !== '2.0') return undefined;
  const { id, method } = json;
  const raw = rawMembers(line);
  if (typeof method === 'string') {
    const params = isObject(json['params']) ? json['params'] : {};
    if (!('id' in json)) return { kind: 'notification', method, raw, params };
    return isRequestId(id) ? { kind: 'request', id, method, raw, params } : undefined;
  }
  if (!isRequestId(id) || !(raw.has('result') || raw.has('error'))) return undefined;
  const isError = raw.has('error');
  const body = isError ? json['error'] : json['result'];
  return { kind: 'response', id, raw, isError, body: isObject(body) ? body : {} };
}

/** A member to replace: its path and its new raw JSON. */
export type Change = readonly [path: readonly string[], rawValue: string];

/** Returns the text of a message with some members replaced and the others unchanged. */
export function withMembers(raw: RawObject, ...changes: readonly Change[]): string {
  const changed = changes.reduce((members, [path, value]) => withMember(members, path, value), raw);
  return fromRawMembers(changed);
}

function withMember(raw: RawObject, path: readonly string[], value: string): RawObject {
  const [name = '', ...rest] = path;
  if (rest.length === 0) return new Map(raw).set(name, value);
  const inner = raw.get(name);
  const members: RawObject = inner?.startsWith('{') ? rawMembers(inner) : new Map();
  return new Map(raw).set(name, fromRawMembers(withMember(members, rest, value)));
}

/** Raw text of the member at a path. */
export function rawAt(raw: RawObject, ...names: string[]): string | undefined {
  let at: RawObject | undefined = raw;
  for (const name of names.slice(0, -1)) {
    const inner: string | undefined = at?.get(name);
    at = inner?.startsWith('{') ? rawMembers(inner) : undefined;
  }
  return at?.get(names.at(-1) ?? '');
}

/** JSON text of an error response. @param rawId raw JSON */
export function errorText(rawId: string, code: number, message: string, data?: unknown): string {
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return `{"jsonrpc":"2.0","id":${rawId},"error":${JSON.stringify(error)}}`;
}

/** JSON text of a request to a child; `params` is raw JSON. */
export function requestText(id: RequestId, method: string, params?: string): string {
  const tail = params === undefined ? '' : `,"params":${params}`;
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${tail}}`;
}

/** JSON text of a notification. */
export function notificationText(method: string, params?: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) });
}
