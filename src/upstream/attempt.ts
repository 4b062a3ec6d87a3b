/**
 * One request sent to a server, once: a fresh id, the era's form, the deadline's end told to a
 * legacy server, and what the server says on a standing stream meanwhile.
 */
import type { Era } from '../shared/protocol.ts';
import type { CallContext } from './protocol/call.ts';
import type { Deadline } from '../http/deadline.ts';
import type { Destination } from './endpoint.ts';
import { withHeard, type Ear } from './streams/call-listener.ts';
import { exchange, type Reply } from './exchange.ts';
import type { UpstreamMessage } from './protocol/message.ts';
import { nextRequestId } from './protocol/request-ids.ts';
import { sendNotification } from './server-messages.ts';
import {
  requestHeaders,
  requestText,
  type Manner,
  type OutboundRequest,
} from './protocol/wire-request.ts';

export interface Attempt {
  destination: Destination;
  era: Era;
  request: OutboundRequest;
  name: string | undefined;
  deadline: Deadline;
  context: CallContext;
}

/** A request that has been sent. */
export interface Sent {
  reply: Reply;
  manner: Manner;
  /** Settles when the server has been told that it is cancelled, if it is. */
  told(): Promise<void>;
}

/**
 * @param ear hears what the server says beside the answer; closed with the call
 * @throws PorticoError with an `upstream_*` code; SessionForgotten
 */
export async function send(
  attempt: Attempt,
  manner: Manner,
  maxAnswerBytes: number,
  ear?: Ear,
): Promise<Sent> {
  const { destination, request, name, deadline, context } = attempt;
  const id = nextRequestId();
  const outbound = {
    destination,
    headers: requestHeaders(destination, manner, request.method, name, request.paramHeaders),
    body: requestText(request, id, manner.era, context.capabilities),
    id,
    inSession: Boolean(manner.sessionId),
    bytes: context.bytes,
  };
  let telling = Promise.resolve();
  // Told from within the event, since a request whose client is gone begins nothing later.
  const onAbort = () => {
    if (manner.era === 'modern') return;
    const notification = { method: 'notifications/cancelled', params: { requestId: id } };
    telling = sendNotification(destination, manner, notification);
    context.defer(telling);
  };
  const told = () => telling;
  deadline.signal.addEventListener('abort', onAbort, { once: true });
  const settle = () => deadline.signal.removeEventListener('abort', onAbort);
  try {
    const replying = exchange(outbound, deadline, maxAnswerBytes);
    const stop = () => deadline.end();
    const reply = await (ear ? withHeard(replying, ear, { stop, told }) : replying);
    if (!reply.messages) {
      settle();
      return { reply, manner, told };
    }
    const messages = settling(reply.messages, isAnswered => {
      settle();
      if (!isAnswered && !deadline.signal.aborted) onAbort();
    });
    return { reply: { headers: reply.headers, messages }, manner, told };
  } catch (error) {
    settle();
    ear?.close(telling);
    throw error;
  }
}

/** The messages; tells at their end whether the response was among them. */
async function* settling(
  messages: AsyncGenerator<UpstreamMessage, void, undefined>,
  onEnd: (isAnswered: boolean) => void,
): AsyncGenerator<UpstreamMessage, void, undefined> {
  let isAnswered = false;
  try {
    for await (const message of messages) {
      isAnswered ||= message.kind === 'response';
      yield message;
    }
  } finally {
    onEnd(isAnswered);
  }
}
