/**
 * Sends one request to a server, once: with a fresh id and in the form of the era. When the deadline ends, a legacy server gets a
 * cancellation. What the server sends on a notification stream meanwhile is delivered with the reply.
 */
import type { Era } from '../shared/protocol.ts';
import type { CallContext } from './protocol/call.ts';
import type { Deadline } from '../http/deadline.ts';
import type { UpstreamEndpoint } from './endpoint.ts';
import { withListener, type CallListener } from './streams/call-listener.ts';
import { exchange, type Reply } from './exchange.ts';
import type { UpstreamMessage } from './protocol/message.ts';
import {
  nextRequestId,
  requestHeaders,
  requestText,
  type NegotiatedProtocol,
  type OutboundRequest,
} from './protocol/wire-request.ts';
import { sendNotification } from './server-messages.ts';

export interface Attempt {
  endpoint: UpstreamEndpoint;
  era: Era;
  request: OutboundRequest;
  name: string | undefined;
  deadline: Deadline;
  context: CallContext;
}

/** A request that has been sent. */
export interface Sent {
  reply: Reply;
  protocol: NegotiatedProtocol;
  /** Settles when the cancellation has been sent to the server, if there is one. */
  cancelSent(): Promise<void>;
}

/**
 * @param listener gets what the server sends beside its response; closed with the call
 * @throws PorticoError with an `upstream_*` code; SessionForgotten
 */
export async function send(
  attempt: Attempt,
  protocol: NegotiatedProtocol,
  maxAnswerBytes: number,
  listener?: CallListener,
): Promise<Sent> {
  const { endpoint, request, name, deadline, context } = attempt;
  const id = nextRequestId();
  const outbound = {
    endpoint,
    headers: requestHeaders(
      endpoint,
      protocol,
      request.method,
      name,
      request.paramHeaders,
      request.traceHeaders,
    ),
    body: requestText(request, id, protocol.era, context.capabilities),
    id,
    inSession: Boolean(protocol.sessionId),
    bytes: context.bytes,
  };
  let sending = Promise.resolve();
  // Sent from within this event, since a request whose client has gone can begin nothing later.
  const onAbort = () => {
    const notification = { method: 'notifications/cancelled', params: { requestId: id } };
    sending = sendNotification(endpoint, protocol, notification);
    context.waitUntil(sending);
  };
  const cancelSent = () => sending;
  // A modern server learns of it from the end of the connection.
  const isCancellable = protocol.era === 'legacy';
  const settle = isCancellable ? deadline.onEnd(onAbort) : () => {};
  try {
    const replying = exchange(outbound, deadline, maxAnswerBytes);
    const stop = () => deadline.end();
    const reply = await (listener
      ? withListener(replying, listener, { stop, cancelSent })
      : replying);
    if (!reply.messages) {
      settle();
      return { reply, protocol, cancelSent };
    }
    const messages = settling(reply.messages, isAnswered => {
      settle();
      if (isCancellable && !isAnswered && !deadline.signal.aborted) onAbort();
    });
    return { reply: { headers: reply.headers, messages }, protocol, cancelSent };
  } catch (error) {
    settle();
    listener?.close(sending);
    throw error;
  }
}

/** Passes the messages on; reports at their end whether the response was among them. */
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
