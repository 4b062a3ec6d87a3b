/**
 * Parses JSON-RPC messages of an upstream: classifies them, keeps the raw text of what is forwarded, and removes the credential (SEC-2).
 * The credential as it was sent is gone already (`without-credential.ts`). Here each string in an error is decoded and searched, in a
 * response and in a failed task, where servers repeat what they were sent.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import {
  JsonPastBounds,
  parseWithin,
  type JsonBounds,
  rawMembers,
  fromRawMembers,
  skipString,
  withExactIds,
} from '../../shared/json/json-spans.ts';
import {
  idText,
  isObject,
  isRequestId,
  RPC,
  toOwnId,
  type JsonObject,
  type RequestId,
} from '../../shared/protocol.ts';
import type { RawAnswer } from './server-request.ts';
import { replaceText, toNeedle } from '../../shared/redaction/byte-replacer.ts';
import { MIN_SECRET_CHARS, REDACTED } from './credential-forms.ts';

/** A response: exactly one of the two, raw JSON text, beside its parsed form. */
export type RawResponse =
  | { kind: 'response'; result: string; parsed: JsonObject }
  | { kind: 'response'; error: string; parsed: JsonObject };

/** A server request. */
export interface UpstreamRequest {
  kind: 'request';
  method: string;
  id: RequestId;
  /** Raw JSON. */
  params: string;
  /** Sends the answer, if that is not a POST of the call's own; has an effect only once. */
  reply?(answer: RawAnswer): Promise<void>;
}

export type UpstreamMessage =
  | RawResponse
  | { kind: 'notification'; method: string; text: string }
  | UpstreamRequest
  /** A response to another request, or a request under no valid id: never forwarded. */
  | { kind: 'foreign' };

/**
 * Classifies one message.
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
  if (json['id'] !== id && toOwnId(json['id']) !== id) return { kind: 'foreign' };
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

/** Returns the id in a message's text, if there is a valid one. */
export function idOf(text: string): RequestId | undefined {
  try {
    const { id } = withExactIds(parseWithin(text), text) as { id?: unknown };
    return isRequestId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the era in whose form a call's result is a task; undefined if it is none. */
export function taskFormOf(result: JsonObject): 'modern' | 'legacy' | undefined {
  if (result['resultType'] === 'task') return 'modern';
  return isObject(result['task']) && result['content'] === undefined ? 'legacy' : undefined;
}

/** Returns the JSON text of the answer to a server request. */
export function toAnswerText(id: RequestId, answer: RawAnswer): string {
  const [member, raw] =
    'result' in answer ? (['result', answer.result] as const) : (['error', answer.error] as const);
  return `{"jsonrpc":"2.0","id":${idText(id)},"${member}":${raw}}`;
}

/** Whether a value is the error of a response. */
export function isRpcError(value: unknown): value is JsonObject {
  return isObject(value) && Number.isInteger(value['code']) && typeof value['message'] === 'string';
}

/** Returns a response whose error repeats no secret. @param hidden what must not be repeated, as it is sent */
export function withoutSecrets(response: RawResponse, hidden: readonly string[]): RawResponse {
  if ('error' in response) {
    const error = redacted(response.error, hidden);
    if (error === response.error) return response;
    return { ...response, error, parsed: JSON.parse(error) as JsonObject };
  }
  const { parsed, result } = response;
  const isTask = isObject(parsed['error']) && typeof parsed['taskId'] === 'string';
  if (!isTask) return response;
  const safe = taskWithoutSecrets(result, hidden);
  return { ...response, result: safe, parsed: JSON.parse(safe) as JsonObject };
}

/** The same for a raw task. */
export function taskWithoutSecrets(task: string, hidden: readonly string[]): string {
  const members = rawMembers(task);
  const error = members.get('error');
  if (error === undefined) return task;
  return fromRawMembers(members.set('error', redacted(error, hidden)));
}

/** Returns the raw JSON of a notification without the secrets. */
export const noteRedacted = (json: string, hidden: readonly string[]): string =>
  hidden.some(value => value.length >= MIN_SECRET_CHARS) ? redacted(json, hidden) : json;

/** Removes the secrets from raw JSON, string by string, since JSON can write one text in many ways. */
function redacted(json: string, hidden: readonly string[]): string {
  const secrets = new Set(hidden.filter(value => value.length >= MIN_SECRET_CHARS));
  const needles = Array.from(secrets, secret => toNeedle(secret, REDACTED));
  if (needles.length === 0) return json;
  let safe = '';
  let from = 0;
  for (let at = json.indexOf('"'); at !== -1;) {
    const end = skipString(json, at);
    const literal = json.slice(at, end);
    const text = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
    const left = replaceText(text, needles);
    if (left !== text) {
      safe += json.slice(from, at) + JSON.stringify(left);
      from = end;
    }
    at = json.indexOf('"', end);
  }
  return safe + json.slice(from);
}

/**
 * Whether a server differs from what the last discovery found: its mirrored headers were made from a schema that it no longer has, or it no
 * longer speaks the era of the request.
 */
export function isStranger(response: RawResponse): boolean {
  const code = 'error' in response ? response.parsed['code'] : undefined;
  return code === RPC.headerMismatch || code === RPC.unsupportedProtocolVersion;
}
