/**
 * `resources/subscribe` and `resources/unsubscribe` of the legacy era. They belong to a session,
 * whose own stream brings the updates. Source: MCP 2025-11-25, resources, Subscriptions.
 */
import { PorticoError } from '../errors/portico-error.ts';
import type { Reach } from '../gateway/gateway.ts';
import type { RpcRequest } from '../protocol.ts';
import { keepsSessions } from '../registry/keeps-sessions.ts';
import type { Subscription } from '../session/news.ts';
import type { CallContext } from '../upstream/call.ts';
import { resultResponse } from './answer.ts';
import { audienceOf } from './endpoint.ts';
import type { Exchange } from './requests.ts';

/** @throws PorticoError `session_required`, `resource_not_found`, `method_not_found`, … */
export async function subscribe(exchange: Exchange, request: RpcRequest): Promise<Response> {
  const { gateway, caller, scope, context, streams, sessionObject } = exchange;
  const uri = request.params?.['uri'];
  if (typeof uri !== 'string' || uri === '') {
    throw new PorticoError('invalid_params', 'params.uri must be a string');
  }
  if (sessionObject === undefined) throw new PorticoError('session_required');
  const { reach, naming } = scope;
  const found = await gateway.subscription(caller, reach, naming, uri);
  const subscription = placed(found, reach, context);
  if (request.method === 'resources/subscribe') {
    const audience = audienceOf(caller, scope);
    await streams.subscribe(sessionObject, audience, subscription, context.capabilities);
  } else {
    await streams.unsubscribe(sessionObject, subscription);
  }
  return resultResponse(request.id, '{}');
}

/**
 * Where a subscription is made: in the client's own session at a server that keeps one for each
 * client, since it may tell a session of what was done in that one alone; else by the monitor.
 */
export function placed(
  subscription: Subscription,
  { servers }: Reach,
  { owner }: Pick<CallContext, 'owner'>,
): Subscription {
  const { serverId } = subscription;
  const server = servers.find(({ id }) => id === serverId);
  if (!server || !keepsSessions(server)) return subscription;
  return { ...subscription, at: owner(serverId) };
}
