/**
 * `resources/subscribe` and `resources/unsubscribe` of the legacy era. A subscription belongs to a session, whose notification stream
 * delivers the updates. Source: MCP 2025-11-25, resources, Subscriptions.
 */
import type { RequestContext } from '../request-context.ts';
import type { VisibleServers } from '../../gateway/viewer.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { RpcRequest } from '../../shared/protocol.ts';
import { keepsSessions } from '../../servers/registry/keeps-sessions.ts';
import type { Subscription } from '../../shared/events.ts';
import type { CallContext } from '../../upstream/protocol/call.ts';
import { resultResponse } from '../reply/response.ts';
import { audienceOf } from '../endpoint.ts';

/** @throws PorticoError `session_required`, `resource_not_found`, `method_not_found`, … */
export async function subscribe(
  requestContext: RequestContext,
  request: RpcRequest,
): Promise<Response> {
  const { gateway, viewer, context, streams, sessionObject } = requestContext;
  const uri = request.params?.['uri'];
  if (typeof uri !== 'string' || uri === '') {
    throw new PorticoError('invalid_params', 'params.uri must be a string');
  }
  if (sessionObject === undefined) throw new PorticoError('session_required');
  const { visible } = viewer;
  const found = await gateway.subscription(viewer, uri);
  const subscription = placed(found, visible, context);
  if (request.method === 'resources/subscribe') {
    const audience = audienceOf(viewer);
    const ask = (at: Subscription) =>
      streams.subscribe(sessionObject, audience, at, context.capabilities);
    await ask(subscription).catch((error: unknown) => {
      if (!hasNoSession(error, found, visible)) throw error;
      return ask(found);
    });
  } else {
    await streams.unsubscribe(sessionObject, subscription);
  }
  return resultResponse(request.id, '{}');
}

/** Whether a server of both eras opened no session for a legacy client, so that the server is used in the modern era. */
function hasNoSession(
  error: unknown,
  { serverId }: Subscription,
  { servers }: VisibleServers,
): boolean {
  if (!(error instanceof PorticoError) || error.code !== 'upstream_session') return false;
  return servers.find(({ id }) => id === serverId)?.verdict?.modernVersion !== undefined;
}

/**
 * Decides who makes a subscription: the client's own session, at a server that keeps one for each client, since such a server may notify a
 * session only of what was done in that session; else the server's monitor.
 */
export function placed(
  subscription: Subscription,
  { servers }: VisibleServers,
  { owner }: Pick<CallContext, 'owner'>,
): Subscription {
  const { serverId } = subscription;
  const server = servers.find(({ id }) => id === serverId);
  if (!server || !keepsSessions(server)) return subscription;
  return { ...subscription, at: owner(serverId) };
}
