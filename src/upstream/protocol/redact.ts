/**
 * Keeps a server's stored credential out of what its errors say (SEC-2), however JSON writes it: that of
 * a response and that of a task which failed, where servers repeat what they were sent. What is written
 * as it is sent is gone already (`without-credential.ts`); here each text is read as JSON means it.
 */
import { replaceText, toNeedle } from '../../shared/redaction/byte-replacer.ts';
import { fromRawMembers, rawMembers, skipString } from '../../shared/json/json-spans.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { MIN_SECRET_CHARS, REDACTED } from './credential-forms.ts';
import type { RawResponse } from './message.ts';

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
