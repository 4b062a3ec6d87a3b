/**
 * Progress tokens on a connection that many calls share: two callers may use the same one, so the
 * server knows each by the id of its request, and its caller hears its own. Pure.
 */
import { fromRawMembers, rawMembers, type RawObject } from '../lib/json-spans.ts';
import type { RequestId } from '../protocol.ts';

/** The params with the request's id as progress token, since two callers may use the same one. */
export function withProgressToken(params: RawObject, id: number) {
  const meta = params.get('_meta');
  const members = meta?.startsWith('{') ? rawMembers(meta) : undefined;
  const progressToken = members?.get('progressToken');
  if (!members || progressToken === undefined) return { params, progressToken };
  members.set('progressToken', String(id));
  return { params: new Map(params).set('_meta', fromRawMembers(members)), progressToken };
}

/** Whose progress a notification tells of, and its text with that caller's own token. */
export function progressOwner<W extends { progressToken: string | undefined }>(
  { method, text }: { method: string; text: string },
  waiting: ReadonlyMap<RequestId, W>,
): { waiting: W; text: string } | undefined {
  if (method !== 'notifications/progress') return undefined;
  const members = rawMembers(text);
  const params = rawMembers(members.get('params') ?? '{}');
  const found = waiting.get(Number(params.get('progressToken')));
  if (found?.progressToken === undefined) return undefined;
  params.set('progressToken', found.progressToken);
  return { waiting: found, text: fromRawMembers(members.set('params', fromRawMembers(params))) };
}
