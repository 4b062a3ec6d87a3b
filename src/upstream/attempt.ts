/**
 * One request sent to a server, once: a fresh id, the era's form, the deadline's end told to a
 * legacy server, and what the server says on a notification stream meanwhile.
 */
import type { Era } from '../shared/protocol.ts';
import type { CallContext } from './protocol/call.ts';
import type { Deadline } from '../http/deadline.ts';
import type { UpstreamEndpoint } from './endpoint.ts';
import { withHeard, type CallListener } from './streams/call-listener.ts';
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
  /** Settles when the server has been told that it is cancelled, if it is. */
  told(): Promise<void>;
}

/**
 * @param listener hears what the server says beside the answer; closed with the call
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
  let telling = Promise.resolve();
  // Told from within the event, since a request whose client is gone begins nothing later.
  const onAbort = () => {
    const notification = { method: 'notifications/cancelled', params: { requestId: id } };
    telling = sendNotification(endpoint, protocol, notification);
    context.waitUntil(telling);
  };
  const told = () => telling;
  // A modern server hears of it by the connection's end.
  const isTold = protocol.era === 'legacy';
  const settle = isTold ? deadline.onEnd(onAbort) : () => {};
  try {
    const replying = exchange(outbound, deadline, maxAnswerBytes);
    const stop = () => deadline.end();
    const reply = await (listener ? withHeard(replying, listener, { stop, told }) : replying);
    if (!reply.messages) {
      settle();
      return { reply, protocol, told };
    }
    const messages = settling(reply.messages, isAnswered => {
      settle();
      if (isTold && !isAnswered && !deadline.signal.aborted) onAbort();
    });
    return { reply: { headers: reply.headers, messages }, protocol, told };
  } catch (error) {
    settle();
    listener?.close(telling);
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
