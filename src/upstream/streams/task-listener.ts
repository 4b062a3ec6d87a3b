/**
 * Subscribes to tasks at one modern server: a listening stream of its own for each client that listens, held where the client's stream
 * ends, and no longer than that. A task that the server did not agree to announce is not promised to the client, which would stop polling.
 * Source: MCP 2026-07-28, tasks extension, Task Status Notifications.
 */
import { rawMembers } from '../../shared/json/json-spans.ts';
import { isObject, MODERN_VERSION } from '../../shared/protocol.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import { listen } from './listen.ts';
import { taskWithoutSecrets } from '../protocol/message.ts';
import type { NegotiatedProtocol } from '../protocol/wire-request.ts';

const PROTOCOL: NegotiatedProtocol = { era: 'modern', protocolVersion: MODERN_VERSION };
const TASK_NOTIFICATION = 'notifications/tasks';

/**
 * @param taskIds the server's own
 * @param onTask gets the server's own id and the raw task
 */
export async function subscribeTasks(
  endpoint: UpstreamEndpoint,
  taskIds: readonly string[],
  onTask: (taskId: string, task: string) => void,
  signal: AbortSignal,
): Promise<TaskSubscription> {
  if (signal.aborted) return { agreed: [], ended: Promise.resolve() };
  const controller = new AbortController();
  const stop = () => controller.abort();
  signal.addEventListener('abort', stop, { once: true });
  const onNotification = (method: string, text: string) => {
    const params = rawMembers(text).get('params') ?? '{}';
    const parsed: unknown = JSON.parse(params);
    if (!isObject(parsed)) return;
    const { taskId } = parsed;
    if (method !== TASK_NOTIFICATION || typeof taskId !== 'string' || !taskIds.includes(taskId))
      return;
    onTask(taskId, taskWithoutSecrets(params, endpoint.hidden));
  };
  const wanted = { lists: [], uris: [], taskIds };
  const stream = await listen(endpoint, PROTOCOL, wanted, onNotification, controller.signal);
  if (!stream) return { agreed: [], ended: Promise.resolve() };
  const agreed = (await stream.agreed('taskIds')) ?? [];
  const given = agreed.filter(id => taskIds.includes(id));
  if (given.length === 0) stop();
  return { agreed: given, ended: stream.ended };
}

/** A subscription to tasks at servers, until `ended`. */
export interface TaskSubscription {
  /** The tasks that a server agreed to announce. */
  agreed: readonly string[];
  /** Settles when one of the servers stops announcing; at once if none agreed. */
  ended: Promise<void>;
}
