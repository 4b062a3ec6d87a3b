/**
 * Translates task ids in messages about tasks: the client's own ids in what the server sends, and the server's own again in the client's
 * answers. Only where the two eras put ids: the task itself, the notifications of tasks, and `_meta` of a message that belongs to one.
 * Source: MCP 2026-07-28, tasks extension; 2025-11-25, tasks, Associating Task-Related Messages.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../../shared/json/json-spans.ts';
import { isObject, META } from '../../shared/protocol.ts';
import type { CallMessages, CallReply, RelayedMethod } from './call.ts';
import { taskFormOf, type RawResponse } from './message.ts';
import type { Question, RawAnswer } from './server-request.ts';

/** Translates ids; `toOwn` returns undefined for an id that is no task of the client. */
export interface TaskNames {
  toClient(taskId: string): Promise<string>;
  toOwn(taskId: string): Promise<string | undefined>;
}

/** The part of the key that is the same however a writer of JSON escapes it. */
const RELATED = 'related-task';
const TASK_NOTIFICATION = /^notifications\/tasks(?:\/|$)/;

/** Whether a notification is about a task. */
export function isTaskNotification(method: string): boolean {
  return TASK_NOTIFICATION.test(method);
}

/** Returns a reply with the client's ids. */
export async function withClientIds(
  reply: CallReply,
  method: RelayedMethod,
  names: TaskNames,
): Promise<CallReply> {
  if ('response' in reply) return { response: await responseFor(reply.response, method, names) };
  return { messages: messagesFor(reply.messages, method, names) };
}

async function* messagesFor(
  messages: CallMessages,
  method: RelayedMethod,
  names: TaskNames,
): CallMessages {
  /** Server requests as the client gets them, by the server's originals. */
  const renamed = new Map<Question, Question>();
  for await (const message of messages) {
    if (message.kind === 'response') yield await responseFor(message, method, names);
    else if (message.kind === 'notification') {
      const isOfTask = isTaskNotification(message.method);
      yield { ...message, text: await notificationFor(message.text, isOfTask, names) };
    } else if (message.kind === 'question') {
      const question = await questionFor(message, names);
      renamed.set(message, question);
      yield question;
    } else yield { ...message, of: renamed.get(message.of) ?? message.of };
  }
}

async function questionFor(question: Question, names: TaskNames): Promise<Question> {
  const params = await relatedFor(question.params, id => names.toClient(id));
  const answer = async (given: RawAnswer) => question.answer(await answerFor(given, names));
  return { ...question, params, answer };
}

async function responseFor(
  response: RawResponse,
  method: RelayedMethod,
  names: TaskNames,
): Promise<RawResponse> {
  if (!('result' in response)) return response;
  const { parsed } = response;
  let { result } = response;
  const form = method === 'tools/call' ? taskFormOf(parsed) : 'modern';
  if (form === 'legacy') {
    const members = rawMembers(result);
    members.set('task', await taskFor(members.get('task') ?? '{}', names, true));
    result = fromRawMembers(members);
  } else if (form === 'modern' && method !== 'tasks/result') {
    // An acknowledgement has no id.
    result = await taskFor(result, names, method === 'tools/call');
  }
  if (isObject(parsed['_meta'])) result = await relatedFor(result, id => names.toClient(id));
  return { ...response, result };
}

/** Returns a server's raw notification with the client's ids. */
async function notificationFor(text: string, isOfTask: boolean, names: TaskNames): Promise<string> {
  if (!isOfTask && !text.includes(RELATED)) return text;
  const members = rawMembers(text);
  const params = members.get('params');
  if (!params?.startsWith('{')) return text;
  const own = isOfTask ? await taskFor(params, names, true) : params;
  return fromRawMembers(members.set('params', await relatedFor(own, id => names.toClient(id))));
}

/** Returns a raw task with the client's id. @throws PorticoError if it must have an id and has none */
async function taskFor(task: string, names: TaskNames, isNeeded: boolean): Promise<string> {
  const members = rawMembers(task);
  const raw = members.get('taskId');
  const taskId: unknown = raw === undefined ? undefined : JSON.parse(raw);
  if (typeof taskId === 'string') {
    return fromRawMembers(members.set('taskId', JSON.stringify(await names.toClient(taskId))));
  }
  if (!isNeeded && raw === undefined) return task;
  throw new PorticoError('upstream_bad_message', 'The server gave a task without an id');
}

async function answerFor(answer: RawAnswer, names: TaskNames): Promise<RawAnswer> {
  if (!('result' in answer)) return answer;
  return { result: await relatedFor(answer.result, id => names.toOwn(id)) };
}

/**
 * Returns the params of a request about a task without the second mention of the task: the id that is a parameter counts (2025-11-25), and
 * a server does not know the client's id.
 */
export function withoutRelated(params: RawObject): RawObject {
  const meta = params.get('_meta');
  if (!meta?.startsWith('{')) return params;
  const members = rawMembers(meta);
  if (!members.delete(META.relatedTask)) return params;
  return new Map(params).set('_meta', fromRawMembers(members));
}

/**
 * Returns raw params or a raw result whose `_meta` names the task it belongs to by another id.
 * @param rename returns undefined for an id that is to be left out
 */
async function relatedFor(
  holder: string,
  rename: (taskId: string) => Promise<string | undefined>,
): Promise<string> {
  // A JSON writer may escape any letter of a key, so the text alone does not show that the key is missing.
  const members = rawMembers(holder);
  const meta = members.get('_meta');
  if (!meta?.startsWith('{')) return holder;
  const renamed = await metaFor(rawMembers(meta), rename);
  return renamed ? fromRawMembers(members.set('_meta', fromRawMembers(renamed))) : holder;
}

async function metaFor(
  meta: RawObject,
  rename: (taskId: string) => Promise<string | undefined>,
): Promise<RawObject | undefined> {
  const related = meta.get(META.relatedTask);
  if (related === undefined) return undefined;
  const members = related.startsWith('{') ? rawMembers(related) : undefined;
  const taskId: unknown = JSON.parse(members?.get('taskId') ?? 'null');
  const other = typeof taskId === 'string' ? await rename(taskId) : undefined;
  if (!members || other === undefined) meta.delete(META.relatedTask);
  else meta.set(META.relatedTask, fromRawMembers(members.set('taskId', JSON.stringify(other))));
  return meta;
}
