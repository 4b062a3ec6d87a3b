/**
 * Keeps a server's stored credential out of what its errors say (SEC-2). Results pass unchanged;
 * only error texts, where servers repeat what they were sent, are looked through: that of a response
 * and that of a task which failed.
 */
import { fromRawMembers, rawMembers } from '../lib/json-spans.ts';
import { isObject, type JsonObject } from '../protocol.ts';
import type { RawResponse } from './message.ts';

const REDACTED = '[redacted]';
/** Shorter values are no secrets and would redact ordinary words. */
const MIN_SECRET_CHARS = 8;
const STRING = /"(?:[^"\\]|\\.)*"/g;

/** @param hidden what must not be repeated, as it is sent */
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

/** Raw JSON of a notification, without the secrets. */
export const noteRedacted = (json: string, hidden: readonly string[]): string =>
  hidden.some(value => value.length >= MIN_SECRET_CHARS) ? redacted(json, hidden) : json;

/** Raw JSON without the secrets; string by string, since one text can be written in JSON in many ways. */
function redacted(json: string, hidden: readonly string[]): string {
  const secrets = hidden
    .filter(value => value.length >= MIN_SECRET_CHARS)
    .toSorted((a, b) => b.length - a.length);
  return json.replaceAll(STRING, literal => {
    const text = JSON.parse(literal) as string;
    const safe = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
    return safe === text ? literal : JSON.stringify(safe);
  });
}
