/**
 * Requests of the modern era (2026-07-28): stateless, no session, no object. The envelope and the
 * mirrored headers have been checked.
 */
import type { RequestContext } from '../request-context.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { toRpcErrorResponse } from '../../shared/errors/to-json-rpc.ts';
import {
  IMPLEMENTATION,
  META,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  type RpcRequest,
} from '../../shared/protocol.ts';
import { resultResponse, thrownResponse } from '../reply/response.ts';
import { openListener } from './listen.ts';
import { requestedLogLevel } from '../methods/log-level.ts';
import { toOwnAdvertised } from '../own-tools/meta-tools.ts';
import { handleShared, noteDenial, paramsOf } from '../methods/dispatch.ts';

const DISCOVER_TTL_MS = 5_000;

/** Errors of these codes answer with their own status; all others are in-band, with 200. */
const REFUSED_WITH_STATUS = new Set([
  'method_not_found',
  'header_mismatch',
  'missing_client_capability',
  'forbidden',
  'internal',
]);

/** @param text the request as it came */
export async function handleModern(
  requestContext: RequestContext,
  request: RpcRequest,
  text: string,
): Promise<Response> {
  const { id, method } = request;
  try {
    const params = await paramsOf(requestContext, request, text, 'modern');
    if (method === 'server/discover') return await discoverResponse(requestContext, request);
    if (method === 'subscriptions/listen') return await openListener(requestContext, request);
    const logLevel = requestedLogLevel(request);
    const response = await handleShared({ ...requestContext, logLevel }, request, params, 'modern');
    if (response) return response;
    throw new PorticoError('method_not_found', `Method not found: ${method}`);
  } catch (thrown) {
    await noteDenial(requestContext, method, thrown, 'modern');
    if (thrown instanceof PorticoError && REFUSED_WITH_STATUS.has(thrown.code)) {
      return toRpcErrorResponse(thrown, id, 'modern');
    }
    return thrownResponse(thrown, { id, method, era: 'modern' });
  }
}

async function discoverResponse(
  { gateway, caller, scope }: RequestContext,
  { id }: RpcRequest,
): Promise<Response> {
  const advertised = await gateway.advertise(caller, scope.visible, scope.naming, 'modern');
  const result = {
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
    ...toOwnAdvertised(advertised, scope),
    ttlMs: DISCOVER_TTL_MS,
    cacheScope: 'private',
    _meta: { [META.serverInfo]: IMPLEMENTATION },
  };
  return resultResponse(id, JSON.stringify(result));
}
