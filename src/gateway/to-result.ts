/**
 * What an endpoint changes in the result of a server, by what was asked, how the endpoint names things and who asked. Most
 * results have nothing to change and pass as they came.
 */
import type { JsonObject } from '../protocol.ts';
import type { Naming, RelayedRequest, RoutedReply } from './gateway.ts';
import { toLegacyResult } from './legacy-tool.ts';
import { withQualifiedLinks } from './qualified-links.ts';
import { toReadResult } from './read-result.ts';
import type { Resolved } from './resolve.ts';

type ToResult = NonNullable<RoutedReply['toResult']>;

/** @returns undefined where no result has anything to change */
export function resultChanges(
  { method, door }: RelayedRequest,
  { server, item }: Resolved,
  naming: Naming,
): ToResult | undefined {
  const qualifier = naming.kind === 'qualified' ? server.name : undefined;
  if (method === 'resources/read') return text => toReadResult(text, qualifier);
  if (method === 'completion/complete') return undefined;
  const isOld = method === 'tools/call' && door === 'legacy';
  if (qualifier === undefined && !isOld) return undefined;
  return (text, parsed: JsonObject) => {
    const own = isOld && item ? toLegacyResult(item, text, parsed) : text;
    return qualifier === undefined ? own : withQualifiedLinks(own, parsed, qualifier);
  };
}
