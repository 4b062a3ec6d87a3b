/**
 * Rewrites results of `resources/read` for an endpoint: with its own URIs in the contents, and never shared between callers. A result that
 * a server calls `public` was read for a token that may see the server; another token may not, so a cache above must not hand it on. Pure.
 */
import { fromRawMembers, rawElements, rawMembers } from '../../shared/json/json-spans.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { toQualifiedUri } from '../../shared/naming/qualified-uri.ts';

/**
 * @param result raw result of the server
 * @param parsed the same, parsed
 * @param qualifier the server's name if the endpoint's URIs carry it
 */
export function toReadResult(
  result: string,
  parsed: JsonObject,
  qualifier: string | undefined,
): string {
  const own = qualifier === undefined ? result : withQualifiedContents(result, qualifier);
  if (parsed['cacheScope'] !== 'public') return own;
  return fromRawMembers(rawMembers(own).set('cacheScope', '"private"'));
}

function withQualifiedContents(result: string, server: string): string {
  const members = rawMembers(result);
  const contents = members.get('contents');
  if (!contents?.startsWith('[')) return result;
  const rewritten = rawElements(contents).map(element => {
    if (!element.startsWith('{')) return element;
    const content = rawMembers(element);
    const uri: unknown = JSON.parse(content.get('uri') ?? 'null');
    if (typeof uri !== 'string') return element;
    return fromRawMembers(content.set('uri', JSON.stringify(toQualifiedUri(server, uri))));
  });
  return fromRawMembers(members.set('contents', `[${rewritten.join(',')}]`));
}
