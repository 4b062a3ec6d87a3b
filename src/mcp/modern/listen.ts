/**
 * `subscriptions/listen` of the modern era. The stream first acknowledges which notifications are honoured, then sends each of those, under
 * the subscription's id, until the client leaves; nothing is replayed. A stream that the gateway ends is closed with the request's result.
 * Source: MCP 2026-07-28, patterns, subscriptions.
 */
import type { RequestContext } from '../request-context.ts';
import { z } from 'zod';
import { requireScope } from '../../shared/identity/principal.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Gateway, TaskEvent } from '../../gateway/gateway.ts';
import { counted } from '../../shared/limits/stream-count.ts';
import { fromRawMembers, rawMembers } from '../../shared/json/json-spans.ts';
import { toSseText } from '../../http/sse-events.ts';
import {
  idText,
  IMPLEMENTATION,
  META,
  type RequestId,
  type RpcRequest,
} from '../../shared/protocol.ts';
import { isOffered } from '../../servers/registry/status.ts';
import { LISTS, type Subscription } from '../../shared/events.ts';
import type { StreamOpening } from '../../sessions/stream-opening.ts';
import { listenOwner } from '../../sessions/streams.ts';
import { audienceOf } from '../endpoint.ts';
import type { Viewer } from '../../gateway/viewer.ts';
import { changingLists, recheckLists, maySend, seenBy } from '../own-tools/own-lists.ts';
import { placed } from '../legacy/subscribe.ts';
import { streamResponse, type LiveStream } from '../reply/stream-response.ts';
import { requireTasks } from '../methods/era-forms.ts';
import { MAX_OWN_CHARS } from '../params.ts';
import { MAX_URI_CHARS } from '../../shared/util/name-limits.ts';

/** Most resources that one listener may subscribe to. */
const MAX_RESOURCES = 1_000;
/** Most tasks of one listener; each may be at another server. */
const MAX_TASKS = 100;

const FilterSchema = z.object({
  toolsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourceSubscriptions: z
    .array(z.string().min(1).max(MAX_URI_CHARS))
    .max(MAX_RESOURCES)
    .optional(),
  taskIds: z.array(z.string().min(1).max(MAX_OWN_CHARS)).max(MAX_TASKS).optional(),
});

/** @throws PorticoError `forbidden`, `busy`, `invalid_params`, `missing_client_capability` */
export async function openListener(
  requestContext: RequestContext,
  request: RpcRequest,
): Promise<Response> {
  requireScope(requestContext.viewer.caller, 'tools:read');
  const release = requestContext.listening.open();
  return counted(release, async () => {
    const onOpen = await requestContext.listening.turn();
    return counted(onOpen, () => listen(requestContext, request, { onOpen, release }));
  });
}

async function listen(
  { viewer, gateway, context, streams, listening }: RequestContext,
  request: RpcRequest,
  ends: { onOpen: () => void; release: () => void },
): Promise<Response> {
  const parsed = FilterSchema.safeParse(request.params?.['notifications']);
  if (!parsed.success) {
    throw new PorticoError('invalid_params', 'params.notifications must be a filter');
  }
  const wanted = parsed.data;
  if (wanted.taskIds) requireTasks(request);
  const { id } = request;
  const owner = listenOwner(viewer.caller.principalId);
  const lists = changingLists(viewer, LISTS).filter(list => wanted[`${list}ListChanged`]);
  const opening: StreamOpening = {
    owner,
    kind: 'listen',
    audience: audienceOf(viewer),
    lists,
    seen: await seenBy(gateway, await listening.now(), lists),
    resources: (await honoured(wanted.resourceSubscriptions ?? [], viewer, gateway)).map(resource =>
      placed(resource, viewer.visible, context),
    ),
  };
  /** Once the object has the stream, subscribes at the servers, then acknowledges to the client what they agreed to. */
  async function acknowledge(live: LiveStream): Promise<string> {
    const agreedUris = await Promise.all(
      opening.resources.map(async resource => {
        const failure = await streams.watch(owner, resource, context.capabilities);
        return failure ? undefined : resource.as;
      }),
    );
    const notifications = {
      ...Object.fromEntries(opening.lists.map(list => [`${list}ListChanged`, true])),
      ...(wanted.resourceSubscriptions
        ? { resourceSubscriptions: agreedUris.filter(uri => uri !== undefined) }
        : {}),
      ...(wanted.taskIds ? { taskIds: await subscribeTasks(wanted.taskIds, live) } : {}),
    };
    const method = 'notifications/subscriptions/acknowledged';
    const text = JSON.stringify({ jsonrpc: '2.0', method, params: { notifications } });
    return toSseText(withSubscriptionId(text, id));
  }
  /** Ends the stream when a server stops notifying of its tasks, since a client does not poll a task that it is notified of. */
  async function subscribeTasks(
    ids: readonly string[],
    live: LiveStream,
  ): Promise<readonly string[]> {
    const onTask = ({ server, task }: TaskEvent) =>
      live.send(async () => {
        const { servers } = (await listening.now()).viewer.visible;
        const now = servers.find(({ id: serverId }) => serverId === server.id);
        if (!now || !isOffered(now.status)) return '';
        const text = `{"jsonrpc":"2.0","method":"notifications/tasks","params":${task}}`;
        return toSseText(withSubscriptionId(text, id));
      });
    const { agreed, ended } = await gateway.subscribeTasks(viewer, ids, onTask, live.signal);
    if (agreed.length > 0) void ended.then(() => live.end());
    return agreed;
  }
  const socket = await streams.connect(opening);
  return streamResponse(socket, {
    ...ends,
    keepAliveMs: listening.keepAliveMs,
    signal: context.signal,
    isAllowed: async () => (await listening.now()) !== undefined,
    opening,
    recheck: async change => recheckLists(gateway, await listening.now(), lists, change),
    toText: async ({ text }, live) => {
      if (text === '') return acknowledge(live);
      return (await maySend(gateway, await listening.now(), text))
        ? toSseText(withSubscriptionId(text, id))
        : '';
    },
    closingText: toSseText(resultText(id)),
  });
}

/** Returns the requested resources that a visible server can notify of; leaves out the others. */
async function honoured(
  uris: readonly string[],
  viewer: Viewer,
  gateway: Gateway,
): Promise<Subscription[]> {
  const found = await Promise.all(
    [...new Set(uris)].map(uri =>
      gateway.subscription(viewer, uri).catch((error: unknown) => {
        if (error instanceof PorticoError) return undefined;
        throw error;
      }),
    ),
  );
  return found.filter(subscription => subscription !== undefined);
}

/** Puts the id of its subscription into a notification. */
function withSubscriptionId(text: string, id: RequestId): string {
  const members = rawMembers(text);
  const params = rawMembers(members.get('params') ?? '{}');
  const meta = params.get('_meta');
  const kept = meta?.startsWith('{') ? rawMembers(meta) : new Map<string, string>();
  kept.set(META.subscriptionId, idText(id));
  return fromRawMembers(
    members.set('params', fromRawMembers(params.set('_meta', fromRawMembers(kept)))),
  );
}

/** The response to the request, which ends a subscription in good order. */
function resultText(id: RequestId): string {
  const named = `${JSON.stringify(META.subscriptionId)}:${idText(id)}`;
  const meta = `{${named},${JSON.stringify(META.serverInfo)}:${JSON.stringify(IMPLEMENTATION)}}`;
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":{"resultType":"complete","_meta":${meta}}}`;
}
