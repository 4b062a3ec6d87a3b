/**
 * Progress tokens on a connection that many calls share. Two callers may use the same token, so the server gets the id of the request
 * instead, and the caller gets its own token back. Pure.
 */
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';

/** Returns the params with the request's id as progress token, and the caller's own token. */
export function withProgressToken(params: RawObject, id: number) {
  const meta = params.get('_meta');
  const members = meta?.startsWith('{') ? rawMembers(meta) : undefined;
  const progressToken = members?.get('progressToken');
  if (!members || progressToken === undefined) return { params, progressToken };
  members.set('progressToken', String(id));
  return { params: new Map(params).set('_meta', fromRawMembers(members)), progressToken };
}

/** Returns the raw JSON of the progress token in the params of a request. */
export function progressTokenIn(params: RawObject): string | undefined {
  const meta = params.get('_meta');
  return meta?.includes('progressToken') ? rawMembers(meta).get('progressToken') : undefined;
}

/** Returns the raw JSON of the token in a progress notification. @param text of the whole notification */
export function progressTokenOf(text: string): string | undefined {
  return rawMembers(rawMembers(text).get('params') ?? '{}').get('progressToken');
}

/** Returns the text of such a notification with another token. */
export function renamedProgress(text: string, progressToken: string): string {
  const members = rawMembers(text);
  const params = rawMembers(members.get('params') ?? '{}').set('progressToken', progressToken);
  return fromRawMembers(members.set('params', fromRawMembers(params)));
}
