/**
 * What a server sends to its client while a call runs, and the answers. A request of a legacy server goes to the caller if the client
 * declared that it answers such requests, with a function for the answer; all others are answered here. While a server request waits, the
 * call's deadline is held.
 */
import type { Deadline } from '../http/deadline.ts';
import type { CallContext, CallMessages } from './protocol/call.ts';
import { postNotification } from './session/channel.ts';
import { createDeadline } from '../http/deadline.ts';
import type { UpstreamEndpoint } from './endpoint.ts';
import { toAnswerText, type UpstreamMessage, withoutSecrets } from './protocol/message.ts';
import { rawMembers } from '../shared/json/json-spans.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { isTaskNotification } from './protocol/task-messages.ts';
import { canAnswer, capabilityFor } from '../shared/client-capabilities.ts';
import { cancelledId, type Question, type RawAnswer } from './protocol/server-request.ts';
import type { RequestId } from '../shared/protocol.ts';
import { LIST_CHANGED } from './streams/session-events.ts';
import { requestHeaders, type NegotiatedProtocol } from './protocol/wire-request.ts';

/** The call whose server sends messages, and how that server is reached. */
export interface Talk {
  endpoint: UpstreamEndpoint;
  protocol: NegotiatedProtocol;
  deadline: Deadline;
  context: CallContext;
  questionTimeoutMs: number;
  /** Settles when the cancellation of the call has been sent to the server, if there is one. */
  cancelSent?(): Promise<void>;
  /** The caller gave a progress token; progress without one is dropped. */
  wantsProgress: boolean;
  /** The caller knows the tasks of this server by ids of its own. */
  knowsTasks: boolean;
}

/** A server request on its way to the client. */
interface OpenRequest {
  question: Question;
  /** The way back to the server. */
  reply: (answer: RawAnswer) => Promise<void>;
  /** Lets the call's deadline run again. */
  resume: () => void;
  /** It came on a stream that other calls share. */
  isShared: boolean;
}

/** Most server requests of one call at a time whose answers are awaited or on their way, and most characters of several together. */
const MAX_OPEN = 200;
const MAX_OPEN_CHARS = 8_388_608;
const REFUSAL: RawAnswer = { error: '{"code":-32601,"message":"Method not found"}' };
const GONE: RawAnswer = { error: '{"code":-32603,"message":"The client went away"}' };

/**
 * Yields the messages of a call as its caller sees them. Releases the deadline at their end.
 * @param onChange called with the id of the server when one of its lists changed
 */
export async function* toCallMessages(
  messages: AsyncIterable<UpstreamMessage> | Iterable<UpstreamMessage>,
  talk: Talk,
  onChange: (serverId: string) => Promise<unknown>,
): CallMessages {
  const { deadline, context, endpoint } = talk;
  /** Open server requests; those of this call alone are lost with it, those of a shared stream are not. */
  const open = new Map<RequestId, OpenRequest>();
  /** How many refusals of requests of this call alone are on their way. */
  let refusing = 0;
  const close = (id: RequestId, { resume }: OpenRequest) => {
    open.delete(id);
    resume();
  };
  try {
    for await (const message of messages) {
      if (message.kind === 'request') {
        // A modern server must not send requests, and must not be sent responses (2026-07-28, Streamable HTTP).
        if (talk.protocol.era === 'modern') continue;
        const { method, id, params } = message;
        const isShared = message.reply !== undefined;
        const reply = message.reply ?? ((given: RawAnswer) => sendAnswer(talk, id, given));
        // A resumed stream may repeat what it sent before; one that was joined anew has another way back.
        const known = open.get(id);
        if (known) {
          if (isShared && known.isShared && known.question.method === method) known.reply = reply;
          continue;
        }
        // A shared stream bounds its requests itself; but once it was joined anew, it does not know those from before.
        const fits = hasRoom(open.values(), isShared, isShared ? 0 : refusing, params);
        if (!fits && !isShared) {
          throw new PorticoError(
            'upstream_too_large',
            'The server sends too many requests at once',
          );
        }
        if (!fits || !canAnswer(context.capabilities, method)) {
          const needed = capabilityFor(method);
          if (fits && needed && context.questions === 'suspend') {
            throw new PorticoError('missing_client_capability', undefined, {
              data: { requiredCapabilities: { [needed]: {} } },
            });
          }
          const own = Number(!isShared);
          refusing += own;
          const sent = reply(method === 'ping' ? { result: '{}' } : REFUSAL);
          context.waitUntil(sent.finally(() => void (refusing -= own)));
          continue;
        }
        const resume = deadline.hold(talk.questionTimeoutMs);
        const answer = async (given: RawAnswer) => {
          if (open.get(id) !== request) return;
          close(id, request);
          await request.reply(given);
        };
        const question: Question = { kind: 'question', method, params, answer };
        const request: OpenRequest = { question, resume, reply, isShared };
        open.set(id, request);
        yield question;
      } else if (message.kind === 'notification') {
        if (message.method === 'notifications/cancelled') {
          const id = cancelledId(message.method, message.text);
          const cancelled = id === undefined ? undefined : open.get(id);
          if (id === undefined || !cancelled) continue;
          close(id, cancelled);
          const params = rawMembers(message.text).get('params') ?? '{}';
          yield { kind: 'cancellation', of: cancelled.question, params };
          continue;
        }
        if (LIST_CHANGED.test(message.method)) {
          context.waitUntil(onChange(endpoint.serverId));
          continue;
        }
        // Only a caller that takes tasks gets their notifications; no other may rely on them.
        if (isTaskNotification(message.method) && !talk.knowsTasks) continue;
        if (message.method !== 'notifications/progress') yield message;
        else if (talk.wantsProgress) {
          deadline.restart();
          yield message;
        }
      } else if (message.kind === 'response') {
        yield withoutSecrets(message, endpoint.hidden);
        return;
      }
    }
  } finally {
    deadline.release();
    const cancelSent = talk.cancelSent?.() ?? Promise.resolve();
    for (const [id, { isShared }] of open) {
      if (!isShared) context.waitUntil(cancelSent.then(() => sendAnswer(talk, id, GONE)));
    }
    open.clear();
  }
}

/** Whether a call has room for another server request with these params. Its own are bounded, and those of a shared stream. */
function hasRoom(
  open: Iterable<OpenRequest>,
  isShared: boolean,
  refusing: number,
  params: string,
): boolean {
  const alike = [...open].filter(request => request.isShared === isShared);
  const chars = alike.reduce((sum, { question }) => sum + question.params.length, 0);
  const isTooLarge = chars > 0 && chars + params.length > MAX_OPEN_CHARS;
  return alike.length + refusing < MAX_OPEN && !isTooLarge;
}

/**
 * Returns a function that wakes the monitor of a server, at most once in `gapMs`. A wake that comes sooner is made later, together with
 * those that come until then: what a server announces during the gap is in no earlier discovery.
 */
export function pacedWakes(
  wake: (serverId: string) => Promise<unknown>,
  gapMs: number,
  wait: (ms: number) => Promise<unknown>,
  now: () => number = () => Date.now(),
): (serverId: string) => Promise<void> {
  /** When a monitor was last woken, or will be next. */
  const wokenAt = new Map<string, number>();
  return async serverId => {
    const at = now();
    const last = wokenAt.get(serverId) ?? -Infinity;
    if (last > at) return;
    const next = Math.max(at, last + gapMs);
    wokenAt.set(serverId, next);
    if (next > at) await wait(next - at);
    await wake(serverId);
  };
}

/** Sends a server the answer to its request. Whether it arrives, the call itself will show. */
function sendAnswer(talk: Talk, id: RequestId, answer: RawAnswer): Promise<void> {
  return postText(talk.endpoint, talk.protocol, toAnswerText(id, answer));
}

/** POSTs a message that is no request; whether it arrives does not matter. */
export function postText(
  endpoint: UpstreamEndpoint,
  protocol: NegotiatedProtocol,
  text: string,
): Promise<void> {
  return briefly(async deadline => {
    const response = await endpoint.fetch(endpoint.url, {
      method: 'POST',
      headers: requestHeaders(endpoint, protocol, ''),
      body: text,
      redirect: 'manual',
      signal: deadline.signal,
    });
    await response.body?.cancel();
  });
}

/** Sends a notification; nobody waits to see whether it arrives. */
export function sendNotification(
  endpoint: UpstreamEndpoint,
  protocol: NegotiatedProtocol,
  notification: { method: string; params?: unknown },
): Promise<void> {
  return briefly(deadline => postNotification(endpoint, protocol, notification, deadline));
}

/** Runs work whose outcome nobody waits for, within a deadline. */
async function briefly(work: (deadline: Deadline) => Promise<void>): Promise<void> {
  const deadline = createDeadline(5_000);
  await work(deadline).catch(() => {});
  deadline.release();
}
