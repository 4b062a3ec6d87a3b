/**
 * Tasks: the client gets the id of a task sealed (`task-ids.ts`). It is opened only for its principal, and only while that principal still
 * sees the server; any other id is an unknown task. A task is requested in the form of the era that made it, on the upstream session that
 * made it. Requests without tasks pass unchanged.
 */
import type { Caller } from '../../access/policy/caller.ts';
import type { Viewer, VisibleServers } from '../viewer.ts';
import type { TaskSubscription } from '../../upstream/streams/task-listener.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { fromRawMembers, rawMembers } from '../../shared/json/json-spans.ts';
import type { Era } from '../../shared/protocol.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { isOffered } from '../../servers/registry/status.ts';
import type { CallContext, CallReply, RelayedMethod } from '../../upstream/protocol/call.ts';
import type { Gateway, RelayedRequest } from '../gateway.ts';
import { taskNotFound } from '../resolve.ts';
import { failingAs, toServerFailure } from '../server-failure.ts';
import type { HeldTask, TaskIds } from './task-ids.ts';
import {
  withClientIds,
  withoutRelated,
  type TaskNames,
} from '../../upstream/protocol/task-messages.ts';

export interface TaskPorts {
  taskIds: TaskIds;
  /** Subscribes to tasks at a server, by its own ids. */
  subscribeTasks(
    server: Server,
    taskIds: readonly string[],
    onTask: (taskId: string, task: string) => void,
    signal: AbortSignal,
  ): Promise<TaskSubscription>;
}

/** A request with the server's own id of the task, if it names one; and the handling of its reply. */
export interface OpenedTask {
  request: RelayedRequest;
  context: CallContext;
  /** Replaces the server's ids by the client's. */
  close(server: Server, reply: CallReply): Promise<CallReply>;
}

export interface Tasks {
  /** @throws PorticoError `task_not_found` if the task is not the caller's, or the caller does not see its server */
  open(
    viewer: Viewer,
    era: Era,
    request: RelayedRequest,
    context: CallContext,
  ): Promise<OpenedTask>;
  /** `Gateway.subscribeTasks`, for a viewer that is already restricted. */
  subscribe: Gateway['subscribeTasks'];
}

/** Handles tasks that only their principal can reach. */
export function createTasks({ taskIds, subscribeTasks }: TaskPorts): Tasks {
  /** Opens a client's task id. @throws PorticoError `task_not_found` */
  async function held(
    caller: Caller,
    era: Era,
    visible: VisibleServers,
    id: string,
  ): Promise<HeldTask> {
    const task = await taskIds.open(caller.principalId, id);
    const server = task && visible.servers.find(candidate => candidate.id === task.serverId);
    if (!server || !isReachable(server, task, era)) throw taskNotFound();
    return task;
  }

  /** Returns how the ids of one server are translated, for a task made on the session of an owner. */
  function namesOf(caller: Caller, server: Server, owner: string): TaskNames {
    const { id: serverId, verdict } = server;
    const era = verdict?.era ?? 'legacy';
    const made = { era, serverId, origin: originOf(server) };
    const kept = verdict?.sessionful ? { owner } : {};
    return {
      toClient: taskId => taskIds.seal(caller.principalId, { ...made, taskId, ...kept }),
      async toOwn(id) {
        const task = await taskIds.open(caller.principalId, id);
        const isOfServer = task?.serverId === serverId && isReachable(server, task, era);
        return isOfServer ? task.taskId : undefined;
      },
    };
  }

  function making(
    caller: Caller,
    era: Era,
    request: RelayedRequest,
    context: CallContext,
  ): OpenedTask {
    return {
      request,
      context,
      async close(server, reply) {
        if (server.verdict?.era !== era) return reply;
        const names = namesOf(caller, server, context.owner(server.id));
        return renamed(server, reply, request.method, names);
      },
    };
  }

  /** Prepares a request about a task, on the upstream session that made it. */
  async function about(
    { caller, visible }: Viewer,
    era: Era,
    request: RelayedRequest,
    context: CallContext,
  ): Promise<OpenedTask> {
    const given = request.reference.name;
    const { serverId, taskId, owner } = await held(caller, era, visible, given);
    const reference = { kind: 'task', name: taskId, serverId } as const;
    const own = owner === undefined ? context : { ...context, owner: () => owner };
    return {
      request: { ...request, reference, params: withoutRelated(request.params) },
      context: own,
      async close(server, reply) {
        const names = namesOf(caller, server, own.owner(serverId));
        const toClient = async (id: string) => (id === taskId ? given : names.toClient(id));
        return renamed(server, reply, request.method, { ...names, toClient });
      },
    };
  }

  /** Opens task ids and groups them by server: maps the server's own id to the client's. */
  async function heldByServer(
    caller: Caller,
    visible: VisibleServers,
    ids: readonly string[],
  ): Promise<ReadonlyMap<Server, ReadonlyMap<string, string>>> {
    const byServer = new Map<Server, Map<string, string>>();
    for (const id of new Set(ids)) {
      const task = await taskIds.open(caller.principalId, id);
      const server = task && visible.servers.find(candidate => candidate.id === task.serverId);
      if (!server || !isOffered(server.status) || !isReachable(server, task, 'modern')) continue;
      byServer.set(server, (byServer.get(server) ?? new Map()).set(task.taskId, id));
    }
    return byServer;
  }

  return {
    async subscribe({ caller, visible }, ids, onEvent, signal) {
      const byServer = await heldByServer(caller, visible, ids);
      const listeners = await Promise.all(
        [...byServer].map(async ([server, known]) => {
          const onTask = (own: string, task: string) => {
            const members = rawMembers(task).set('taskId', JSON.stringify(known.get(own)));
            onEvent({ server, task: fromRawMembers(members) });
          };
          const { agreed, ended } = await subscribeTasks(
            server,
            [...known.keys()],
            onTask,
            signal,
          ).catch(notSubscribed);
          return { agreed: agreed.map(own => known.get(own) ?? ''), ended };
        }),
      );
      const agreeing = listeners.filter(({ agreed }) => agreed.length > 0);
      const ended = agreeing.map(listener => listener.ended);
      return {
        agreed: agreeing.flatMap(({ agreed }) => agreed),
        ended: ended.length === 0 ? Promise.resolve() : Promise.race(ended),
      };
    },

    async open(viewer, era, request, context) {
      return request.reference.kind === 'task'
        ? about(viewer, era, request, context)
        : making(viewer.caller, era, request, context);
    },
  };
}

/** A server that cannot be subscribed to announces nothing, and does not keep the others from it. */
function notSubscribed(thrown: unknown): TaskSubscription {
  if (thrown instanceof PorticoError) return { agreed: [], ended: Promise.resolve() };
  throw thrown;
}

const originOf = ({ url }: Server) => new URL(url).origin;

/** Whether a task can be requested in the form of an era: it was made in it, and the server still speaks it and is where it was. */
const isReachable = (server: Server, task: HeldTask, era: Era) =>
  task.era === era && server.verdict?.era === era && task.origin === originOf(server);

/** Returns a reply with the client's ids; a server that names a task wrongly is at fault. */
async function renamed(
  server: Server,
  reply: CallReply,
  method: RelayedMethod,
  names: TaskNames,
): Promise<CallReply> {
  try {
    const own = await withClientIds(reply, method, names);
    return 'response' in own ? own : { messages: failingAs(server, own.messages) };
  } catch (thrown) {
    throw toServerFailure(server, thrown);
  }
}
