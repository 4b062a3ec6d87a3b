/**
 * Translates between an endpoint and a server. On the way out: the server's own name in place of the endpoint's, mirrored parameters, the
 * log level. On the way back: what has to change in the server's result for the method, the endpoint's naming and the client; most results
 * need no change and pass as they came. Pure.
 */
import { fromRawMembers, rawMembers, type RawObject } from '../shared/json/json-spans.ts';
import { isObject, type JsonObject, LATEST_LEGACY_VERSION } from '../shared/protocol.ts';
import type { OutboundRequest } from '../upstream/protocol/wire-request.ts';
import type { RelayedRequest, RoutedReply } from './gateway.ts';
import {
  checkParamHeaders,
  paramHeadersOf,
  toParamHeaders,
} from '../upstream/protocol/param-headers.ts';
import type { Resolved } from './resolve.ts';
import type { Naming } from './viewer.ts';
import { toLegacyResult } from './results/legacy-tool.ts';
import { toOlderContent } from './results/older-content.ts';
import { toReadResult } from './results/read-result.ts';
import { editBlocks, within } from './results/content-blocks.ts';
import { toQualifiedUri } from '../shared/naming/qualified-uri.ts';

/**
 * Returns a caller's request as it goes to the server.
 * @param capabilities of the server
 * @throws PorticoError `header_mismatch` if the caller's headers and arguments disagree
 */
export function toOutbound(
  request: RelayedRequest,
  { server, name, item }: Resolved,
  capabilities: JsonObject,
): OutboundRequest {
  const outbound: OutboundRequest = { method: request.method, params: paramsFor(request, name) };
  if (request.tasks && request.tasks === server.verdict?.era) outbound.tasks = true;
  const { logLevel } = request;
  if (logLevel && logLevel !== 'none' && capabilities['logging'] !== undefined) {
    outbound.logLevel = logLevel;
  }
  const declared = item && request.method === 'tools/call' ? paramHeadersOf(item) : [];
  if (declared.length === 0) return outbound;
  const args = request.params.get('arguments');
  if (request.readHeader) checkParamHeaders(declared, args, request.readHeader);
  outbound.paramHeaders = toParamHeaders(declared, args);
  return outbound;
}

/** The member of the params that names the item of a request. */
const MEMBERS = { tool: 'name', prompt: 'name', resource: 'uri', task: 'taskId' } as const;

/** Returns the params with the server's own name in place of the endpoint's. */
function paramsFor({ method, reference, params }: RelayedRequest, name: string): RawObject {
  const copy = new Map(params);
  const own = JSON.stringify(name);
  const member = MEMBERS[reference.kind];
  if (method !== 'completion/complete') return copy.set(member, own);
  const ref = rawMembers(params.get('ref') ?? '{}').set(member, own);
  return copy.set('ref', fromRawMembers(ref));
}

type ToResult = NonNullable<RoutedReply['toResult']>;

/** @returns undefined if no result has to change */
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

/** Whether a result is only blocks of text, as of most calls: nothing in it links to a resource. */
const isTextAlone = ({ content, messages, result }: JsonObject): boolean =>
  messages === undefined &&
  result === undefined &&
  Array.isArray(content) &&
  content.every(block => isObject(block) && block['type'] === 'text');

/**
 * Qualifies the URIs of resources in a result like those that an endpoint of many servers lists, so that a link is read from the server
 * that gave it and from no other. Every other byte stays.
 * @param result raw result of a call or a prompt, or a task that has one
 * @param parsed the same, parsed: a result without links is not read again
 */
export function withQualifiedLinks(result: string, parsed: JsonObject, server: string): string {
  if (isTextAlone(parsed)) return result;
  const qualify = within('uri', raw => {
    const uri: unknown = JSON.parse(raw);
    return typeof uri === 'string' ? JSON.stringify(toQualifiedUri(server, uri)) : raw;
  });
  const embedded = within('resource', qualify);
  return editBlocks(result, parsed, ({ type }) => {
    if (type === 'resource_link') return qualify;
    return type === 'resource' ? embedded : undefined;
  });
}
