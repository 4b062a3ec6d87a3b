/**
 * The path of a call to an upstream: built raw, sent once, answered as it comes. Owns deadline,
 * cancellation and the one permitted repetition (a session the server forgot, told before it did
 * anything). Everything else that fails after dispatch fails once, with a reason.
 */
import { PorticoError } from '../errors/portico-error.ts';
import type { Server, Verdict } from '../registry/server-schema.ts';
import { postNotification } from './channel.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { exchange, SessionForgotten, type Reply } from './exchange.ts';
import type { RawResponse, UpstreamMessage } from './message.ts';
import { nextRequestId } from './request-ids.ts';
import type { Destination, Destinations } from './destination.ts';
import { requestHeaders, requestText, type Manner, type OutboundRequest } from './wire-request.ts';
import type { RequestId } from '../protocol.ts';

/** What a call needs of the request it serves. */
export interface CallContext {
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  /** Name of the ClientSession object that holds this client's session at a server. */
  owner(serverId: string): string;
  /** Runs work that outlives the response. */
  defer(work: Promise<unknown>): void;
  /** Told when the request leaves for the upstream. */
  onDispatch?(): void;
}

/** The answer of an upstream: its response, or first notifications and then the response. */
export type CallReply =
  { response: RawResponse } | { messages: AsyncGenerator<UpstreamMessage, void, undefined> };

/** Sessions at upstreams, kept by the client's object. */
export interface SessionPort {
  acquire(
    owner: string,
    destination: Destination,
  ): Promise<{ sessionId: string; protocolVersion: string }>;
  forget(owner: string, destination: Destination, sessionId: string): Promise<void>;
  callSse(
    owner: string,
    destination: Destination,
    request: OutboundRequest,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<RawResponse>;
}

export interface UpstreamsOptions {
  destinations: Destinations;
  sessions: SessionPort;
  callTimeoutMs: number;
  maxAnswerBytes: number;
  /** Told when a server behaves unlike its verdict or its catalog, so that it is looked at. */
  onSuspect(serverId: string): Promise<unknown>;
}

interface Attempt {
  destination: Destination;
  manner: Manner;
  request: OutboundRequest;
  name: string | undefined;
  deadline: Deadline;
  context: CallContext;
}

const CHANGED = 'notifications/tools/list_changed';

export class Upstreams {
  readonly #options: UpstreamsOptions;

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
    const { callTimeoutMs, sessions, destinations } = this.#options;
    const destination = await destinations.of(server);
    context.onDispatch?.();
    try {
      if (verdict.transport === 'sse') {
        const owner = context.owner(server.id);
        const response = await sessions.callSse(
          owner,
          destination,
          request,
          callTimeoutMs,
          context.signal,
        );
        return { response };
      }
      return await this.#overHttp(destination, verdict, request, name, context);
    } catch (error) {
      if (error instanceof PorticoError && error.code !== 'upstream_timeout') {
        context.defer(this.#options.onSuspect(server.id));
      }
      throw error;
    }
  }

  async #overHttp(
    destination: Destination,
    verdict: Verdict,
    request: OutboundRequest,
    name: string | undefined,
    context: CallContext,
  ): Promise<CallReply> {
    const deadline = createDeadline(this.#options.callTimeoutMs, context.signal);
    let streaming = false;
    try {
      const { era, protocolVersion } = verdict;
      const attempt = { destination, request, name, deadline, context };
      const reply = verdict.sessionful
        ? await this.#inSession(attempt, era)
        : await this.#attempt({ ...attempt, manner: { era, protocolVersion } });
      if (reply.response) return { response: reply.response };
      streaming = true;
      return { messages: this.#relay(reply, destination, deadline, context) };
    } catch (error) {
      if (error instanceof SessionForgotten) throw new PorticoError('upstream_session');
      throw error;
    } finally {
      if (!streaming) deadline.release();
    }
  }

  /** A call in an upstream session; a forgotten one is opened anew, once. */
  async #inSession(attempt: Omit<Attempt, 'manner'>, era: 'legacy' | 'modern'): Promise<Reply> {
    const { sessions } = this.#options;
    const { destination, context } = attempt;
    const owner = context.owner(destination.serverId);
    const session = await sessions.acquire(owner, destination);
    try {
      return await this.#attempt({ ...attempt, manner: { era, ...session } });
    } catch (error) {
      if (!(error instanceof SessionForgotten)) throw error;
      await sessions.forget(owner, destination, session.sessionId);
      const renewed = await sessions.acquire(owner, destination);
      return this.#attempt({ ...attempt, manner: { era, ...renewed } });
    }
  }

  async #attempt(attempt: Attempt): Promise<Reply> {
    const { destination, manner, request, name, deadline, context } = attempt;
    const id = nextRequestId();
    const outbound = {
      url: destination.url,
      headers: requestHeaders(destination, manner, request.method, name),
      body: requestText(request, id, manner.era),
      id,
      inSession: Boolean(manner.sessionId),
    };
    try {
      const reply = await exchange(outbound, deadline, this.#options.maxAnswerBytes);
      if (!reply.messages) return reply;
      return { headers: reply.headers, messages: this.#watch(reply.messages, attempt, id) };
    } catch (error) {
      if (deadline.signal.aborted) this.#cancel(destination, manner, id, context);
      throw error;
    }
  }

  /** Tells a legacy upstream of a cancellation when the stream ends before its response. */
  async *#watch(
    messages: AsyncGenerator<UpstreamMessage, void, undefined>,
    { destination, manner, context }: Attempt,
    id: RequestId,
  ): AsyncGenerator<UpstreamMessage, void, undefined> {
    let answered = false;
    try {
      for await (const message of messages) {
        if (message.kind === 'request') {
          context.defer(refuse(destination, manner, message.method, message.id));
          continue;
        }
        answered ||= message.kind === 'response';
        yield message;
      }
    } finally {
      if (!answered) this.#cancel(destination, manner, id, context);
    }
  }

  async *#relay(
    reply: Reply,
    destination: Destination,
    deadline: Deadline,
    context: CallContext,
  ): AsyncGenerator<UpstreamMessage, void, undefined> {
    try {
      for await (const message of reply.messages ?? []) {
        if (message.kind === 'notification' && message.method === CHANGED) {
          context.defer(this.#options.onSuspect(destination.serverId));
          continue;
        }
        yield message;
      }
    } finally {
      deadline.release();
    }
  }

  #cancel(
    destination: Destination,
    manner: Manner,
    requestId: RequestId,
    context: CallContext,
  ): void {
    if (manner.era === 'modern') return;
    const notification = { method: 'notifications/cancelled', params: { requestId } };
    context.defer(
      briefly(deadline => postNotification(destination, manner, notification, deadline)),
    );
  }
}

/** Answer a question of a legacy upstream: `ping`, and nothing else was offered to it. */
function refuse(
  destination: Destination,
  manner: Manner,
  method: string,
  id: RequestId,
): Promise<void> {
  const answer =
    method === 'ping' ? { result: {} } : { error: { code: -32601, message: 'Method not found' } };
  return briefly(async deadline => {
    const response = await fetch(destination.url, {
      method: 'POST',
      headers: requestHeaders(destination, manner, method),
      body: JSON.stringify({ jsonrpc: '2.0', id, ...answer }),
      redirect: 'manual',
      signal: deadline.signal,
    });
    await response.body?.cancel();
  });
}

/** Work whose outcome nobody waits for, with an end. */
async function briefly(work: (deadline: Deadline) => Promise<void>): Promise<void> {
  const deadline = createDeadline(5_000);
  await work(deadline).catch(() => {});
  deadline.release();
}
