/**
 * What the two eras express differently. Log level: a legacy session sets it with `logging/setLevel`; a modern request carries it in a
 * `_meta` key, and without that key it wants no log messages. Tasks: a modern client declares an extension with each request, a legacy one
 * asks for a task with a parameter of the call; tasks of one form cannot be used in the other.
 * Source: MCP 2025-11-25 and 2026-07-28, Logging; 2026-07-28, tasks extension; 2025-11-25, tasks.
 */
import type { RequestContext } from '../request-context.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import {
  isObject,
  LOG_LEVELS,
  META,
  type LogLevel,
  type RpcRequest,
  TASKS_EXTENSION,
  type Era,
} from '../../shared/protocol.ts';
import { resultResponse } from '../reply/response.ts';
import type { Reference } from '../../gateway/listing.ts';

function parseLogLevel(value: unknown): LogLevel {
  const level = LOG_LEVELS.find(known => known === value);
  if (level) return level;
  throw new PorticoError('invalid_params', `The log level must be one of ${LOG_LEVELS.join(', ')}`);
}

/** Returns the log level that a modern request asks for. @throws PorticoError `invalid_params` */
export function requestedLogLevel({ params }: RpcRequest): LogLevel | 'none' {
  const meta = params?.['_meta'];
  const value = isObject(meta) ? meta[META.logLevel] : undefined;
  return value === undefined ? 'none' : parseLogLevel(value);
}

/** Answers `logging/setLevel`. @throws PorticoError `session_required`, `invalid_params` */
export async function setLogLevel(
  { setLogLevel: remember }: RequestContext,
  { id, params }: RpcRequest,
): Promise<Response> {
  if (!remember) throw new PorticoError('session_required', 'A log level needs a session');
  await remember(parseLogLevel(params?.['level']));
  return resultResponse(id, '{}');
}

/** The methods about a task, with the eras that have them. `tasks/list` is served in neither. */
const TASK_METHODS: ReadonlyMap<string, readonly Era[]> = new Map<string, readonly Era[]>([
  ['tasks/get', ['legacy', 'modern']],
  ['tasks/cancel', ['legacy', 'modern']],
  ['tasks/result', ['legacy']],
  ['tasks/update', ['modern']],
]);

/** Whether a method is about a task in either era. */
export function isAboutTask(method: string): boolean {
  return TASK_METHODS.has(method);
}

/** Whether a modern client declared the tasks extension with this request. */
function declaresTasks({ params }: RpcRequest): boolean {
  const meta = params?.['_meta'];
  const capabilities = isObject(meta) ? meta[META.clientCapabilities] : undefined;
  const extensions = isObject(capabilities) ? capabilities['extensions'] : undefined;
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

/** Returns the form of tasks that may answer a call; undefined where the client accepts no task. */
export function wantedTasks(request: RpcRequest, era: Era): Era | undefined {
  if (era === 'modern') return declaresTasks(request) ? 'modern' : undefined;
  return isObject(request.params?.['task']) ? 'legacy' : undefined;
}

/**
 * Checks that a client declared the tasks extension.
 * @throws PorticoError `missing_client_capability`
 */
export function requireTasks(request: RpcRequest): void {
  if (declaresTasks(request)) return;
  throw new PorticoError('missing_client_capability', undefined, {
    data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  });
}

/**
 * Returns the task that a request is about, under the client's id.
 * @returns undefined where the era does not have the method
 * @throws PorticoError `missing_client_capability`, `invalid_params`
 */
export function taskReference(request: RpcRequest, era: Era): Reference | undefined {
  if (!TASK_METHODS.get(request.method)?.includes(era)) return undefined;
  if (era === 'modern') requireTasks(request);
  const taskId = request.params?.['taskId'];
  if (typeof taskId === 'string') return { kind: 'task', name: taskId };
  throw new PorticoError('invalid_params', 'params.taskId must be a string');
}
