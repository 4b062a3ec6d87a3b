/**
 * The path of a call to an upstream: built raw, sent once, answered as it comes. Owns deadline,
 * cancellation and the one permitted repetition (a session the server forgot, told before it did
 * anything). Everything else that fails after dispatch fails once, with a reason.
 */
import { PorticoError } from '../errors/portico-error.ts';
import { RPC, type Era, type RequestId } from '../protocol.ts';
import type { Server, Verdict } from '../registry/server-schema.ts';
import type { CallContext, CallMessages, CallReply } from './call.ts';
import { createHttpChannel } from './channel.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import type { Destination, Destinations } from './destination.ts';
import { exchange, SessionForgotten, type Reply } from './exchange.ts';
import { LogLevels } from './log-levels.ts';
import type { RawResponse, UpstreamMessage } from './message.ts';
import { withoutSecrets } from './redact.ts';
import { nextRequestId } from './request-ids.ts';
import type { SseConnection } from './sse-connection.ts';
import { sendNotification, toCallMessages } from './talk-back.ts';
import { requestHeaders, requestText, type Manner, type OutboundRequest } from './wire-request.ts';

/** Sessions at upstreams, kept by the client's object. */
export interface SessionPort {
  acquire(
    context: CallContext,
    destination: Destination,
  ): Promise<{ sessionId: string; protocolVersion: string }>;
  forget(context: CallContext, destination: Destination, sessionId: string): Promise<void>;
}

/** One call as an object makes it for the Worker. */
export interface ObjectCall {
  server: Server;
  request: OutboundRequest;
  name: string | undefined;
}

/** Calls that an object must make: they hold a connection, or may outlive the request. */
export type ObjectPort = (call: ObjectCall, context: CallContext) => Promise<CallMessages>;

export interface UpstreamsOptions {
  destinations: Destinations;
  sessions: SessionPort;
  /** Absent inside of an object, which makes the calls itself. */
  throughObject?: ObjectPort;
  /**
   * The HTTP+SSE connection for a call, there only inside of an object: the client's own, or one for
   * this call alone where the call may be parked.
   */
  connectSse?(destination: Destination, context: CallContext): Promise<SseConnection>;
  callTimeoutMs: number;
  /** Longest time a question may wait for its answer, in milliseconds. */
  questionTimeoutMs: number;
  maxAnswerBytes: number;
  /** Told when a server behaves unlike its verdict or its catalog, so that it is looked at. */
  onSuspect(serverId: string): Promise<unknown>;
}

interface Attempt {
  destination: Destination;
  era: Era;
  request: OutboundRequest;
  name: string | undefined;
  deadline: Deadline;
  context: CallContext;
}

export class Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #levels = new LogLevels();

  constructor(options: UpstreamsOptions) {
    this.#options = options;
  }

  /**
   * Put a request to a server.
   * @param request the server's own names in its raw params
   * @param name what the mirrored header repeats of them, if anything
   * @throws PorticoError with an `upstream_*` code
   */
  async call(
    server: Server,
    request: OutboundRequest,
    name: string | undefined,
    context: CallContext,
  ): Promise<CallReply> {
    const { verdict } = server;
    if (!verdict) throw new PorticoError('upstream_unreachable');
    const { throughObject, destinations, onSuspect } = this.#options;
    context.onDispatch?.();
    try {
      if (throughObject && needsObject(verdict, request, context)) {
        return { messages: await throughObject({ server, request, name }, context) };
      }
      const destination = await destinations.of(server);
      return await this.#dispatch(destination, verdict, request, name, context);
    } catch (error) {
      if (error instanceof PorticoError && error.code !== 'upstream_timeout') {
        context.defer(onSuspect(server.id));
      }
      throw error;
    }
  }

  async #dispatch(
    destination: Destination,
    verdict: Verdict,
    request: OutboundRequest,
    name: string | undefined,
    context: CallContext,
  ): Promise<CallReply> {
    const deadline = createDeadline(this.#options.callTimeoutMs, context.signal);
    const { era, protocolVersion } = verdict;
    const attempt = { destination, era, request, name, deadline, context };
    let streaming = false;
    try {
      if (verdict.transport === 'sse') {
        streaming = true;
        return { messages: await this.#overSse(attempt) };
      }
      const { reply, manner } = verdict.sessionful
        ? await this.#inSession(attempt)
        : await this.#attempt(attempt, { era, protocolVersion });
      if (reply.response) {
        // Its mirrored headers were made of a schema the server no longer has: worth a look.
        if (isHeaderMismatch(reply.response))
          context.defer(this.#options.onSuspect(destination.serverId));
        return { response: withoutSecrets(reply.response, destination.headers) };
      }
      streaming = true;
      const { questionTimeoutMs, onSuspect } = this.#options;
      const wantsProgress = hasProgressToken(request);
      const talk = { destination, manner, deadline, context, questionTimeoutMs, wantsProgress };
      return { messages: toCallMessages(reply.messages ?? [], talk, onSuspect) };
    } catch (error) {
      if (error instanceof SessionForgotten) throw new PorticoError('upstream_session');
      throw error;
    } finally {
      if (!streaming) deadline.release();
    }
  }

  async #overSse({ destination, request, deadline, context, era }: Attempt): Promise<CallMessages> {
    const { connectSse, questionTimeoutMs, onSuspect } = this.#options;
    if (!connectSse) throw new PorticoError('internal');
    const connection = await connectSse(destination, context).catch((error: unknown) => {
      deadline.release();
      throw error;
    });
    await this.#levels.onConnection(connection, request.logLevel);
    const messages = connection.call(request.method, request.params, deadline);
    const manner: Manner = { era, protocolVersion: '' };
    const send = (text: string) => connection.sendText(text);
    const wantsProgress = hasProgressToken(request);
    const answering = { questionTimeoutMs, wantsProgress, send };
    const talk = { destination, manner, deadline, context, ...answering };
    const seen = toCallMessages(messages, talk, onSuspect);
    return mayPark(context) ? closingAfter(seen, connection) : seen;
  }

  /** A call in an upstream session; a forgotten one is opened anew, once. */
  async #inSession(attempt: Attempt): Promise<{ reply: Reply; manner: Manner }> {
    const { sessions } = this.#options;
    const { destination, context, era } = attempt;
    const session = await sessions.acquire(context, destination);
    try {
      return await this.#withLevel(attempt, { era, ...session });
    } catch (error) {
      if (!(error instanceof SessionForgotten)) throw error;
      await sessions.forget(context, destination, session.sessionId);
      const renewed = await sessions.acquire(context, destination);
      return this.#withLevel(attempt, { era, ...renewed });
    }
  }

  /** A call in a session that logs as the caller wants it. */
  async #withLevel(attempt: Attempt, manner: Manner): Promise<{ reply: Reply; manner: Manner }> {
    const { destination, request } = attempt;
    const session = `${destination.serverId} ${manner.sessionId}`;
    const channel = () => createHttpChannel(destination, manner, this.#options.maxAnswerBytes);
    await this.#levels.inSession(session, channel, request.logLevel);
    return this.#attempt(attempt, manner);
  }

  async #attempt(attempt: Attempt, manner: Manner): Promise<{ reply: Reply; manner: Manner }> {
    const { destination, request, name, deadline, context } = attempt;
    const id = nextRequestId();
    const { maxAnswerBytes } = this.#options;
    const outbound = {
      url: destination.url,
      headers: requestHeaders(destination, manner, request.method, name, request.paramHeaders),
      body: requestText(request, id, manner.era, context.capabilities),
      id,
      inSession: Boolean(manner.sessionId),
    };
    // Told from within the event, since a request whose client is gone begins nothing later.
    const onAbort = () => cancel(destination, manner, id, context);
    deadline.signal.addEventListener('abort', onAbort, { once: true });
    const settle = () => deadline.signal.removeEventListener('abort', onAbort);
    try {
      const reply = await exchange(outbound, deadline, maxAnswerBytes);
      if (!reply.messages) {
        settle();
        return { reply, manner };
      }
      const messages = settling(reply.messages, isAnswered => {
        settle();
        if (!isAnswered && !deadline.signal.aborted) onAbort();
      });
      return { reply: { headers: reply.headers, messages }, manner };
    } catch (error) {
      settle();
      throw error;
    }
  }
}

const isHeaderMismatch = (response: RawResponse) =>
  'error' in response && response.parsed['code'] === RPC.headerMismatch;

/**
 * Whether an object has to make the call: HTTP+SSE, whose connection is the session, and a legacy
 * server that may ask a client which answers with its next request, or is asked by its retry.
 */
function needsObject(verdict: Verdict, request: OutboundRequest, context: CallContext): boolean {
  if (verdict.transport === 'sse') return true;
  if (verdict.era !== 'legacy') return false;
  const isRetry = context.questions === 'park' && request.params.has('requestState');
  return isRetry || mayPark(context);
}

function hasProgressToken({ params }: OutboundRequest): boolean {
  return params.get('_meta')?.includes('progressToken') ?? false;
}

/** Whether the client of a call can be asked, but only with its next request. */
export function mayPark({ capabilities, questions }: CallContext): boolean {
  return questions === 'park' && Object.keys(capabilities).length > 0;
}

async function* closingAfter(messages: CallMessages, connection: SseConnection): CallMessages {
  try {
    yield* messages;
  } finally {
    connection.close();
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

/** Tell a legacy server that nobody waits for a request any more. */
function cancel(
  destination: Destination,
  manner: Manner,
  requestId: RequestId,
  context: CallContext,
): void {
  if (manner.era === 'modern') return;
  const notification = { method: 'notifications/cancelled', params: { requestId } };
  context.defer(sendNotification(destination, manner, notification));
}
