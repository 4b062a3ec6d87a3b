/**
 * `subscriptions/listen` of the modern era: an acknowledgement with what is honoured, then every
 * notification asked for, each under the subscription's id, until the client goes; nothing is
 * replayed. A stream that ends here ends with the request's result.
 * Source: MCP 2026-07-28, patterns, subscriptions.
 */
import { z } from 'zod';
import { requireScope, type Caller } from '../access/principal.ts';
import { PorticoError } from '../errors/portico-error.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { fromRawMembers, rawMembers } from '../lib/json-spans.ts';
import { toSseText } from '../lib/sse-events.ts';
import { IMPLEMENTATION, META, type RequestId, type RpcRequest } from '../protocol.ts';
import { LISTS, type Subscription } from '../session/news.ts';
import type { StreamOpening } from '../session/stream-opening.ts';
import { listenOwner } from '../session/streams.ts';
import { audienceOf, type Scope } from './endpoint.ts';
import type { Exchange } from './requests.ts';
import { streamResponse } from './stream-response.ts';

/** Most resources one listener may subscribe to. */
const MAX_RESOURCES = 1_000;

const FilterSchema = z.object({
  toolsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string().min(1)).max(MAX_RESOURCES).optional(),
});

/** @throws PorticoError `forbidden`, `invalid_params` */
export async function openListener(
  { caller, scope, gateway, streams, listening }: Exchange,
  request: RpcRequest,
): Promise<Response> {
  requireScope(caller, 'tools:read');
  const parsed = FilterSchema.safeParse(request.params?.['notifications']);
  if (!parsed.success) {
    throw new PorticoError('invalid_params', 'params.notifications must be a filter');
  }
  const wanted = parsed.data;
  const { id } = request;
  const owner = listenOwner(caller.principalId);
  const opening: StreamOpening = {
    owner,
    kind: 'listen',
    audience: audienceOf(caller, scope),
    lists: LISTS.filter(list => wanted[`${list}ListChanged`]),
    resources: await honoured(wanted.resourceSubscriptions ?? [], caller, scope, gateway),
  };
  /** The object has the stream: the servers are asked to tell, then the client is told so. */
  async function acknowledge(): Promise<string> {
    const told = await Promise.all(
      opening.resources.map(async resource => {
        const failure = await streams.watch(owner, resource);
        return failure ? undefined : resource.as;
      }),
    );
    const notifications = {
      ...Object.fromEntries(opening.lists.map(list => [`${list}ListChanged`, true])),
      ...(wanted.resourceSubscriptions
        ? { resourceSubscriptions: told.filter(uri => uri !== undefined) }
        : {}),
    };
    const method = 'notifications/subscriptions/acknowledged';
    const params = { _meta: { [META.subscriptionId]: id }, notifications };
    return toSseText(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }
  const socket = await streams.connect(opening);
  return streamResponse(socket, {
    ...listening,
    opening,
    toText: ({ text }) => (text === '' ? acknowledge() : toSseText(withSubscriptionId(text, id))),
    farewell: toSseText(resultText(id)),
  });
}

/** The resources asked for of which a server within reach can tell; the others are left out. */
async function honoured(
  uris: readonly string[],
  caller: Caller,
  { reach, naming }: Scope,
  gateway: Gateway,
): Promise<Subscription[]> {
  const found = await Promise.all(
    [...new Set(uris)].map(uri =>
      gateway.subscription(caller, reach, naming, uri).catch((error: unknown) => {
        if (error instanceof PorticoError) return undefined;
        throw error;
      }),
    ),
  );
  return found.filter(subscription => subscription !== undefined);
}

/** A notification under the id of the subscription it belongs to. */
function withSubscriptionId(text: string, id: RequestId): string {
  const members = rawMembers(text);
  const params = rawMembers(members.get('params') ?? '{}');
  const meta = params.get('_meta');
  const kept = meta?.startsWith('{') ? rawMembers(meta) : new Map<string, string>();
  kept.set(META.subscriptionId, JSON.stringify(id));
  return fromRawMembers(
    members.set('params', fromRawMembers(params.set('_meta', fromRawMembers(kept)))),
  );
}

/** The response to the request, with which a subscription ends in good order. */
function resultText(id: RequestId): string {
  const _meta = { [META.subscriptionId]: id, [META.serverInfo]: IMPLEMENTATION };
  return JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } });
}
