/**
 * A caller's request as it goes to the server it is about: the server's own name where the
 * endpoint's stood, mirrored parameters, the log level. Pure.
 */
import { fromRawMembers, rawMembers, type RawObject } from '../shared/json/json-spans.ts';
import type { JsonObject } from '../shared/protocol.ts';
import type { OutboundRequest } from '../upstream/protocol/wire-request.ts';
import type { RelayedRequest } from './gateway.ts';
import {
  checkParamHeaders,
  paramHeadersOf,
  toParamHeaders,
} from '../upstream/protocol/param-headers.ts';
import type { Resolved } from './resolve.ts';

/**
 * @param capabilities of the server
 * @throws PorticoError `header_mismatch` where the caller's headers and arguments disagree
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

/** The member of the params that names what a request is about. */
const MEMBERS = { tool: 'name', prompt: 'name', resource: 'uri', task: 'taskId' } as const;

/** The params with the server's own name where the endpoint's stood. */
function paramsFor({ method, reference, params }: RelayedRequest, name: string): RawObject {
  const copy = new Map(params);
  const own = JSON.stringify(name);
  const member = MEMBERS[reference.kind];
  if (method !== 'completion/complete') return copy.set(member, own);
  const ref = rawMembers(params.get('ref') ?? '{}').set(member, own);
  return copy.set('ref', fromRawMembers(ref));
}
