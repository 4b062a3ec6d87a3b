/**
 * What an endpoint changes in the result of a server, by what was asked, how the endpoint names things and who asked. Most
 * results have nothing to change and pass as they came.
 */
import type { Naming } from '../viewer.ts';
import { LATEST_LEGACY_VERSION } from '../../shared/protocol.ts';
import type { RelayedRequest, RoutedReply } from '../gateway.ts';
import { toLegacyResult } from './legacy-tool.ts';
import { toOlderContent } from './older-content.ts';
import { withQualifiedLinks } from '../naming/qualified-links.ts';
import { toReadResult } from './read-result.ts';
import type { Resolved } from '../resolve.ts';

type ToResult = NonNullable<RoutedReply['toResult']>;

/** @returns undefined where no result has anything to change */
export function resultChanges(
  { method, source, version = LATEST_LEGACY_VERSION }: RelayedRequest,
  { server, item }: Resolved,
  naming: Naming,
): ToResult | undefined {
  const qualifier = naming.kind === 'qualified' ? server.name : undefined;
  if (method === 'resources/read') return (text, parsed) => toReadResult(text, parsed, qualifier);
  if (method === 'completion/complete') return undefined;
  const isOld = source === 'legacy';
  if (qualifier === undefined && !isOld) return undefined;
  return (text, parsed) => {
    const isCall = isOld && method === 'tools/call';
    const own = isCall && item ? toLegacyResult(item, text, parsed) : text;
    const named = qualifier === undefined ? own : withQualifiedLinks(own, parsed, qualifier);
    return isOld ? toOlderContent(named, parsed, version) : named;
  };
}
