/**
 * Requests of the modern era (2026-07-28): stateless, no session, no object. The envelope and the
 * mirrored headers have been checked.
 */
import { PorticoError } from '../errors/portico-error.ts';
import { toRpcErrorResponse } from '../errors/to-json-rpc.ts';
import type { RawObject } from '../lib/json-spans.ts';
import { IMPLEMENTATION, META, MODERN_VERSION, type RpcRequest } from '../protocol.ts';
import { replyResponse, resultBytesResponse, resultResponse, thrownText } from './answer.ts';
import { callTool, cursorOf, type Exchange } from './exchange-context.ts';
import { toolListResult } from './tool-list.ts';

const DISCOVER_RESULT = JSON.stringify({
  resultType: 'complete',
  supportedVersions: [MODERN_VERSION],
  capabilities: { tools: {} },
  ttlMs: 60_000,
  cacheScope: 'private',
  _meta: { [META.serverInfo]: IMPLEMENTATION },
});

/** Errors of these codes answer with their own status; all others are in-band, with 200. */
const REFUSED_WITH_STATUS = new Set(['method_not_found', 'forbidden', 'internal']);

/** @param params raw params of the request */
export async function handleModern(
  exchange: Exchange,
  request: RpcRequest,
  params: RawObject,
): Promise<Response> {
  const { id } = request;
  try {
    switch (request.method) {
      case 'tools/call': {
        const routed = await callTool(exchange, request, params);
        return await replyResponse(routed, id, 'modern', exchange.acceptsStream);
      }
      case 'tools/list': {
        const { gateway, caller, scope, pageSize } = exchange;
        const list = await gateway.listTools(caller, scope.reach, scope.naming);
        return resultBytesResponse(id, toolListResult(list, cursorOf(request), pageSize, 'modern'));
      }
      case 'server/discover':
        return resultResponse(id, DISCOVER_RESULT);
      default:
        throw new PorticoError('method_not_found', `Method not found: ${request.method}`);
    }
  } catch (thrown) {
    if (thrown instanceof PorticoError && REFUSED_WITH_STATUS.has(thrown.code)) {
      return toRpcErrorResponse(thrown, id, 'modern');
    }
    return new Response(thrownText(thrown, id, 'modern'), {
      headers: { 'content-type': 'application/json' },
    });
  }
}
