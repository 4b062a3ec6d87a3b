/** Reads the raw text of a `notifications/resources/updated`. Pure. */
import { rawMembers } from './json-spans.ts';

export const UPDATED = 'notifications/resources/updated';

/** Returns the resource that the notification is about, with its raw params; undefined if it names none. */
export function parseUpdated(text: string): { uri: string; params: string } | undefined {
  const params = rawMembers(text).get('params') ?? '{}';
  const parsed: unknown = JSON.parse(params);
  const isNamed = typeof parsed === 'object' && parsed !== null && 'uri' in parsed;
  const uri = isNamed ? parsed.uri : undefined;
  return typeof uri === 'string' ? { uri, params } : undefined;
}
