/**
 * `resources/subscribe` and `resources/unsubscribe` of the legacy era. They belong to a session,
 * whose own stream brings the updates. Source: MCP 2025-11-25, resources, Subscriptions.
 */
import { PorticoError } from '../errors/portico-error.ts';
import type { RpcRequest } from '../protocol.ts';
import { resultResponse } from './answer.ts';
import { audienceOf } from './endpoint.ts';
import type { Exchange } from './requests.ts';

/** @throws PorticoError `session_required`, `resource_not_found`, `method_not_found`, … */
export async function subscribe(exchange: Exchange, request: RpcRequest): Promise<Response> {
  const { gateway, caller, scope, streams, sessionObject } = exchange;
  const uri = request.params?.['uri'];
  if (typeof uri !== 'string' || uri === '') {
    throw new PorticoError('invalid_params', 'params.uri must be a string');
  }
  if (sessionObject === undefined) throw new PorticoError('session_required');
  const { reach, naming } = scope;
  const subscription = await gateway.subscription(caller, reach, naming, uri);
  if (request.method === 'resources/subscribe') {
    await streams.subscribe(sessionObject, audienceOf(caller, scope), subscription);
  } else {
    await streams.unsubscribe(sessionObject, subscription);
  }
  return resultResponse(request.id, '{}');
}
