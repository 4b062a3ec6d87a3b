/**
 * JSON-RPC messages as an upstream sent them: classified, with the raw text of what is forwarded.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { withExactIds } from '../../shared/json/exact-ids.ts';
import {
  JsonPastBounds,
  parseWithin,
  type JsonBounds,
  rawMembers,
} from '../../shared/json/json-spans.ts';
import {
  idText,
  isObject,
  isRequestId,
  type JsonObject,
  type RequestId,
} from '../../shared/protocol.ts';
import type { RawAnswer } from './server-request.ts';

/** A response: exactly one of the two, raw JSON text, beside its parsed form. */
export type RawResponse =
  | { kind: 'response'; result: string; parsed: JsonObject }
  | { kind: 'response'; error: string; parsed: JsonObject };

/** A question of the server. */
export interface UpstreamRequest {
  kind: 'request';
  method: string;
  id: RequestId;
  /** Raw JSON. */
  params: string;
  /** The way of its answer, where that is not a POST of the call's own; does nothing but once. */
  reply?(answer: RawAnswer): Promise<void>;
}

export type UpstreamMessage =
  | RawResponse
  | { kind: 'notification'; method: string; text: string }
  | UpstreamRequest
  /** A response to another request, or a request under no valid id: never forwarded. */
  | { kind: 'foreign' };

/**
 * Classify one message.
 * @param text the message's JSON text
 * @param id id of the request that is waited for
 * @param bounds of the message
 * @throws PorticoError `upstream_bad_json`, `upstream_bad_message`, `upstream_too_large`
 */
export function parseMessage(text: string, id: RequestId, bounds?: JsonBounds): UpstreamMessage {
  let json: unknown;
  try {
    json = withExactIds(parseWithin(text, bounds), text);
  } catch (error) {
    if (!(error instanceof JsonPastBounds)) throw new PorticoError('upstream_bad_json');
    throw new PorticoError('upstream_too_large', `The answer ${error.message}`);
  }
  if (!isObject(json) || json['jsonrpc'] !== '2.0') throw new PorticoError('upstream_bad_message');
  const { method } = json;
  if (typeof method === 'string') {
    if (isRequestId(json['id'])) {
      const params = rawMembers(text).get('params') ?? '{}';
      return { kind: 'request', method, id: json['id'], params };
    }
    // A request under no valid id can be neither answered nor passed on as a notification.
    if ('id' in json) return { kind: 'foreign' };
    return { kind: 'notification', method, text };
  }
  if (json['id'] !== id) return { kind: 'foreign' };
  const members = rawMembers(text);
  const { result, error } = json;
  if (isObject(result) && error === undefined) {
    return { kind: 'response', result: members.get('result') ?? '', parsed: result };
  }
  if (isRpcError(error) && result === undefined) {
    return { kind: 'response', error: members.get('error') ?? '', parsed: error };
  }
  throw new PorticoError('upstream_bad_message');
}

/** The id in a message's text, if there is a valid one. */
export function idOf(text: string): RequestId | undefined {
  try {
    const { id } = withExactIds(parseWithin(text), text) as { id?: unknown };
    return isRequestId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** JSON text of the answer to a question. */
export function toAnswerText(id: RequestId, answer: RawAnswer): string {
  const [member, raw] =
    'result' in answer ? (['result', answer.result] as const) : (['error', answer.error] as const);
  return `{"jsonrpc":"2.0","id":${idText(id)},"${member}":${raw}}`;
}

function isRpcError(value: unknown): value is JsonObject {
  return isObject(value) && Number.isInteger(value['code']) && typeof value['message'] === 'string';
}
