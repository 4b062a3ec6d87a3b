/**
 * The path of a call to an upstream: built raw, sent once, answered as it comes. Owns the deadline, the cancellation and the one permitted
 * repetition (the server forgot its session, and said so before it did anything). Every other failure after dispatch fails once, with a
 * reason.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import type { ErrorCode } from '../shared/errors/table.ts';
import type { Server, ServerProtocol } from '../servers/registry/server-schema.ts';
import { canAnswer } from '../shared/client-capabilities.ts';
import { send, type Attempt, type Sent } from './attempt.ts';
import type { CallContext, CallMessages, CallReply } from './protocol/call.ts';
import {
  callerOf,
  hasProgressToken,
  isAboutTasks,
  isContinuation,
  kindOf,
  maySuspend,
  type NegotiatedProtocol,
  type OutboundRequest,
} from './protocol/wire-request.ts';
import { createHttpChannel } from './session/channel.ts';
import { createDeadline } from '../http/deadline.ts';
import { refuseWithout, type UpstreamEndpoint, type UpstreamEndpoints } from './endpoint.ts';
import type { CallListener } from './streams/call-listener.ts';
import { SessionForgotten } from './exchange.ts';
import { byOwnAccount } from './own-account.ts';
import { LogLevels } from './session/log-levels.ts';
import { isStranger, withoutSecrets } from './protocol/message.ts';
import { progressTokenIn } from './protocol/progress-token.ts';
import type { SseConnection } from './streams/sse-connection.ts';
import { toCallMessages } from './server-messages.ts';

/** A session for one call, and the listener for what its server sends outside the call's own stream. */
export interface CallSession {
  sessionId: string;
  protocolVersion: string;
  /** Absent if nothing can come outside the call's own stream. */
  listener?: CallListener | undefined;
}

/** What a call needs of what its server sends beside its answer. */
export interface SessionNeeds {
  /** What is called (`kindOf`): calls with the same value are alike. */
  what: string;
  /** Reads the raw progress token of the call. */
  progressToken(): string | undefined;
  /** Its client asked for log messages. */
  wantsLogs: boolean;
}

/** Sessions at upstreams, stored by the client's object. */
export interface SessionPort {
  acquire(
    context: CallContext,
    endpoint: UpstreamEndpoint,
    needs: SessionNeeds,
  ): Promise<CallSession>;
  forget(context: CallContext, endpoint: UpstreamEndpoint, sessionId: string): Promise<void>;
}

/** One call as an object makes it for the Worker. */
export interface ObjectCall {
  server: Server;
  request: OutboundRequest;
  name: string | undefined;
}

/**
 * Makes calls in an object: they hold a connection, or may outlive the request.
 * @param here makes the call in this isolate, if that is possible; absent if only an object can
 */
export type ObjectPort = (
  call: ObjectCall,
  context: CallContext,
  here?: (context: CallContext) => Promise<CallReply>,
) => Promise<CallReply>;

export interface UpstreamsOptions {
  endpoints: UpstreamEndpoints;
  sessions: SessionPort;
  /** Absent inside an object, which makes the calls itself. */
  throughObject?: ObjectPort;
  /**
   * Returns the HTTP+SSE connection for a call: the client's own, or one for this call alone if the call may be suspended. Present only
   * inside an object.
   */
  connectSse?(endpoint: UpstreamEndpoint, context: CallContext): Promise<SseConnection>;
  callTimeoutMs: number;
  /** Longest time a server request may wait for its answer, in milliseconds. */
  questionTimeoutMs: number;
  maxAnswerBytes: number;
  /** Called if a server behaves unlike its negotiated protocol or its catalog, so that it is discovered again. */
  requestRecheck(serverId: string): Promise<unknown>;
}

/** A server refused the handshake of a session; the cause says how. */
class NoSession extends Error {}

/** Errors of a call that cast no doubt on its server. */
const BLAMELESS: ReadonlySet<ErrorCode> = new Set([
  'upstream_timeout',
  'upstream_no_room',
  'account_required',
  'invalid_params',
  'too_many_calls',
]);

export class Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #levels = new LogLevels();

  constructor(options: UpstreamsOptions) {
    this.#options = options;
  }

  /**
   * Sends a request to a server.
   * @param request with the server's own names in its raw params
   * @param name the one that the mirrored header repeats, if any
   * @throws PorticoError with an `upstream_*` code
   */
  async call(
    server: Server,
    request: OutboundRequest,
    name: string | undefined,
    context: CallContext,
  ): Promise<CallReply> {
    const { verdict } = server;
    refuseWithout(server);
    if (!verdict) throw new PorticoError('upstream_unreachable');
    const { throughObject, endpoints, requestRecheck } = this.#options;
    context.onDispatch?.();
    let endpoint: UpstreamEndpoint | undefined;
    const here = async (own: CallContext): Promise<CallReply> => {
      endpoint = await endpoints.of(server);
      const sendTo = (to: UpstreamEndpoint) => this.#dispatch(to, verdict, request, name, own);
      if (!server.account) return sendTo(endpoint);
      return byOwnAccount(endpoints, server, endpoint, own.waitUntil, sendTo);
    };
    try {
      const caller = callerOf(verdict, request, context);
      if (!throughObject || caller === 'worker') return await here(context);
      const call = { server, request, name };
      return await throughObject(call, context, caller === 'either' ? here : undefined);
    } catch (error) {
      const isLeft = context.signal.aborted;
      if (error instanceof PorticoError && !BLAMELESS.has(error.code) && !isLeft) {
        context.waitUntil(requestRecheck(server.id));
        const isRefused = error.code === 'upstream_auth' && endpoint;
        if (isRefused) context.waitUntil(endpoints.refuse(server, isRefused));
      }
      throw error;
    }
  }

  async #dispatch(
    endpoint: UpstreamEndpoint,
    verdict: ServerProtocol,
    request: OutboundRequest,
    name: string | undefined,
    context: CallContext,
  ): Promise<CallReply> {
    const deadline = createDeadline(this.#timeoutMs(request), context.signal, context.timers);
    context.onCuttable?.(deadline.end);
    const { era } = verdict;
    const attempt = { endpoint, era, request, name, deadline, context };
    let streaming = false;
    try {
      if (verdict.transport === 'sse') {
        streaming = true;
        return { messages: await this.#overSse(attempt) };
      }
      const { reply, ...sent } =
        verdict.sessionful && !isContinuation(verdict, request)
          ? await this.#inSession(attempt, verdict)
          : await this.#withoutSession(attempt, verdict);
      if (reply.response) {
        if (isStranger(reply.response))
          context.waitUntil(this.#options.requestRecheck(endpoint.serverId));
        return { response: withoutSecrets(reply.response, endpoint.hidden) };
      }
      streaming = true;
      const { questionTimeoutMs, requestRecheck } = this.#options;
      const wantsProgress = hasProgressToken(request);
      const terms = { questionTimeoutMs, wantsProgress, knowsTasks: request.tasks ?? false };
      const talk = { endpoint, deadline, context, ...sent, ...terms };
      return { messages: toCallMessages(reply.messages ?? [], talk, requestRecheck) };
    } catch (error) {
      if (error instanceof SessionForgotten) throw new PorticoError('upstream_session');
      throw error;
    } finally {
      if (!streaming) deadline.release();
    }
  }

  /** The result of a task is waited for until the task is over (2025-11-25), so longer than a call. */
  #timeoutMs({ method }: OutboundRequest): number {
    const { callTimeoutMs, questionTimeoutMs } = this.#options;
    return method === 'tasks/result' ? Math.max(callTimeoutMs, questionTimeoutMs) : callTimeoutMs;
  }

  async #overSse({ endpoint, request, deadline, context, era }: Attempt): Promise<CallMessages> {
    const { connectSse, questionTimeoutMs, requestRecheck } = this.#options;
    if (!connectSse) throw new PorticoError('internal');
    const connection = await connectSse(endpoint, context).catch((error: unknown) => {
      deadline.release();
      throw error;
    });
    await this.#levels.onConnection(connection, request.logLevel);
    const messages = connection.call(request.method, request.params, deadline, method =>
      canAnswer(context.capabilities, method),
    );
    const protocol: NegotiatedProtocol = { era, protocolVersion: '' };
    const wantsProgress = hasProgressToken(request);
    const terms = { questionTimeoutMs, wantsProgress, knowsTasks: request.tasks ?? false };
    const talk = { endpoint, protocol, deadline, context, ...terms };
    const seen = toCallMessages(messages, talk, requestRecheck);
    return maySuspend(context) ? closingAfter(seen, connection) : seen;
  }

  /** Makes a call without a session: in the modern era if the server speaks that. */
  #withoutSession(attempt: Attempt, { era, protocolVersion, modernVersion }: ServerProtocol) {
    const { maxAnswerBytes } = this.#options;
    if (modernVersion === undefined) {
      return send(attempt, { era, protocolVersion }, maxAnswerBytes);
    }
    const protocol: NegotiatedProtocol = { era: 'modern', protocolVersion: modernVersion };
    return send({ ...attempt, era: 'modern' }, protocol, maxAnswerBytes);
  }

  /**
   * Makes a call in an upstream session; a forgotten one is opened anew, once. If a server of both eras opens none, the call, which it has
   * not seen, is made in the modern era.
   */
  async #inSession(attempt: Attempt, verdict: ServerProtocol): Promise<Sent> {
    try {
      return await this.#inOwnSession(attempt);
    } catch (error) {
      if (!(error instanceof NoSession)) throw error;
      const { request, context, endpoint } = attempt;
      if (verdict.modernVersion === undefined || isAboutTasks(request)) throw error.cause;
      context.waitUntil(this.#options.requestRecheck(endpoint.serverId));
      return this.#withoutSession(attempt, verdict);
    }
  }

  async #acquire({ context, endpoint }: Attempt, needs: SessionNeeds): Promise<CallSession> {
    try {
      return await this.#options.sessions.acquire(context, endpoint, needs);
    } catch (error) {
      const isRefused = error instanceof PorticoError && error.code === 'upstream_4xx';
      throw isRefused ? new NoSession('', { cause: error }) : error;
    }
  }

  async #inOwnSession(attempt: Attempt): Promise<Sent> {
    const { sessions } = this.#options;
    const { endpoint, context, request } = attempt;
    const needs = {
      what: kindOf(request, attempt.name),
      progressToken: () => progressTokenIn(request.params),
      wantsLogs: request.logLevel !== undefined,
    };
    const session = await this.#acquire(attempt, needs);
    try {
      return await this.#withLevel(attempt, session);
    } catch (error) {
      if (!(error instanceof SessionForgotten)) throw error;
      await sessions.forget(context, endpoint, session.sessionId);
      const renewed = await this.#acquire(attempt, needs);
      return this.#withLevel(attempt, renewed);
    }
  }

  /** Makes a call in a session that logs as the caller wants it. */
  async #withLevel(attempt: Attempt, { listener, ...session }: CallSession): Promise<Sent> {
    const { endpoint, request, era } = attempt;
    const { maxAnswerBytes } = this.#options;
    const protocol: NegotiatedProtocol = { era, ...session };
    try {
      const key = `${endpoint.serverId} ${protocol.sessionId}`;
      const channel = () => createHttpChannel(endpoint, protocol, maxAnswerBytes);
      await this.#levels.inSession(key, channel, request.logLevel);
    } catch (error) {
      listener?.close();
      throw error;
    }
    return send(attempt, protocol, maxAnswerBytes, listener);
  }
}

async function* closingAfter(messages: CallMessages, connection: SseConnection): CallMessages {
  try {
    yield* messages;
  } finally {
    connection.close();
  }
}
