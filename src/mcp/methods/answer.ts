/**
 * Answers a request of either era: reads its params, tries the era's own methods, then the shared ones, and turns errors into responses.
 */
import type { RequestContext } from '../request-context.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import { toRpcErrorResponse } from '../../shared/errors/to-json-rpc.ts';
import { isCall } from '../../gateway/gateway.ts';
import { failureCode } from '../../gateway/server-failure.ts';
import type { RawObject } from '../../shared/json/json-spans.ts';
import type { Era, RpcRequest } from '../../shared/protocol.ts';
import { toEnding } from '../../telemetry/operation.ts';
import { readParams } from '../params.ts';
import { thrownResponse } from '../reply/response.ts';
import { handleShared } from './dispatch.ts';

/** What differs between the eras. */
export interface EraMethods {
  era: Era;
  /** Errors with these codes get their own HTTP status; all others are in-band, with 200. */
  refusedWithStatus: ReadonlySet<ErrorCode>;
  /** Answers a method that only this era has; undefined for any other method. */
  handleOwn(
    requestContext: RequestContext,
    request: RpcRequest,
  ): Promise<Response | undefined> | Response | undefined;
  /** Adds to the context what a request of this era carries for the shared methods. */
  toShared?(requestContext: RequestContext, request: RpcRequest): RequestContext;
}

/** @param text the raw request */
export async function answerRequest(
  requestContext: RequestContext,
  request: RpcRequest,
  text: string,
  { era, refusedWithStatus, handleOwn, toShared = same }: EraMethods,
): Promise<Response> {
  const { id, method } = request;
  try {
    const params = await paramsOf(requestContext, request, text, era);
    const handled = handleOwn(requestContext, request);
    const own = handled && (await handled);
    if (own) return own;
    const shared = toShared(requestContext, request);
    const response = await handleShared(shared, request, params, era);
    if (response) return response;
    throw new PorticoError('method_not_found', `Method not found: ${method}`);
  } catch (thrown) {
    requestContext.context.operation?.ends(toEnding(failureCode(thrown)));
    await noteDenial(requestContext, method, thrown, era);
    if (thrown instanceof PorticoError && refusedWithStatus.has(thrown.code)) {
      return toRpcErrorResponse(thrown, id, era);
    }
    return thrownResponse(thrown, { id, method, era, client: requestContext });
  }
}

const same = (requestContext: RequestContext) => requestContext;

/**
 * Returns the raw params of a request. Params that can be read in two ways are refused, and the refusal is recorded.
 * @param body the raw request
 * @throws PorticoError `invalid_request`, `invalid_params`
 */
async function paramsOf(
  { gateway, viewer, context }: RequestContext,
  { method }: RpcRequest,
  body: string,
  source: Era,
): Promise<RawObject> {
  try {
    return readParams(body);
  } catch (thrown) {
    await gateway.refused(viewer.caller, { method, thrown, source }, context.waitUntil);
    throw thrown;
  }
}

/** Records that a request was refused for a missing scope; calls have audit rows of their own. */
async function noteDenial(
  { gateway, viewer, context }: RequestContext,
  method: string,
  thrown: unknown,
  source: Era,
): Promise<void> {
  if (!(thrown instanceof PorticoError) || thrown.code !== 'forbidden' || isCall(method)) return;
  await gateway.refused(viewer.caller, { method, thrown, source }, context.waitUntil);
}
