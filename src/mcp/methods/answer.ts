/** How a request of either era is answered: what it is, its own methods, the methods that both eras share, and what is thrown. */
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

/** What is an era's own. */
export interface EraMethods {
  era: Era;
  /** Errors of these codes answer with their own status; all others are in-band, with 200. */
  refusedWithStatus: ReadonlySet<ErrorCode>;
  /** Answers a method that only this era has; undefined for any other. */
  handleOwn(
    requestContext: RequestContext,
    request: RpcRequest,
  ): Promise<Response | undefined> | Response | undefined;
  /** What the shared methods work with, where the request says more of it. */
  toShared?(requestContext: RequestContext, request: RpcRequest): RequestContext;
}

/** @param text the request as it came */
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
 * The raw params of a request; one that can be read in two ways is refused, which is recorded.
 * @param body the request as it came
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

/** Record that a request was refused for want of a scope; calls are recorded by themselves. */
async function noteDenial(
  { gateway, viewer, context }: RequestContext,
  method: string,
  thrown: unknown,
  source: Era,
): Promise<void> {
  if (!(thrown instanceof PorticoError) || thrown.code !== 'forbidden' || isCall(method)) return;
  await gateway.refused(viewer.caller, { method, thrown, source }, context.waitUntil);
}
