/** Requests of the modern era (2026-07-28): stateless, no session, no object. The envelope and the mirrored headers have been checked. */
import type { RequestContext } from '../request-context.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import {
  IMPLEMENTATION,
  META,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  type RpcRequest,
} from '../../shared/protocol.ts';
import { resultResponse } from '../reply/response.ts';
import { openListener } from './listen.ts';
import { requestedLogLevel } from '../methods/era-forms.ts';
import { toOwnAdvertised } from '../own-tools/own-advertised.ts';
import { answerRequest, type EraMethods } from '../methods/answer.ts';

const DISCOVER_TTL_MS = 5_000;

const MODERN: EraMethods = {
  era: 'modern',
  refusedWithStatus: new Set<ErrorCode>([
    'method_not_found',
    'header_mismatch',
    'missing_client_capability',
    'forbidden',
    'internal',
  ]),
  handleOwn(requestContext, request) {
    if (request.method === 'server/discover') return discoverResponse(requestContext, request);
    if (request.method === 'subscriptions/listen') return openListener(requestContext, request);
    return undefined;
  },
  toShared: (requestContext, request) => ({
    ...requestContext,
    logLevel: requestedLogLevel(request),
  }),
};

/** @param text the raw request */
export function handleModern(
  requestContext: RequestContext,
  request: RpcRequest,
  text: string,
): Promise<Response> {
  return answerRequest(requestContext, request, text, MODERN);
}

async function discoverResponse(
  { gateway, viewer }: RequestContext,
  { id }: RpcRequest,
): Promise<Response> {
  const advertised = await gateway.advertise(viewer, 'modern');
  const result = {
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
    ...(await toOwnAdvertised(gateway, advertised, viewer)),
    ttlMs: DISCOVER_TTL_MS,
    cacheScope: 'private',
    _meta: { [META.serverInfo]: IMPLEMENTATION },
  };
  return resultResponse(id, JSON.stringify(result));
}
