/**
 * Serves one run of a legacy child as a Streamable HTTP server with sessions. The child was initialized once, by this command; each client
 * gets that result, its own session and its own share of the child's messages. Source: MCP 2025-11-25, Streamable HTTP.
 */
import { type HttpAnswer, type HttpRequest, SESSION_HEADER } from './http-message.ts';
import { fromRawMembers, rawMembers } from '../../../src/shared/json/json-spans.ts';
import {
  isObject,
  LOG_LEVELS,
  RPC,
  type JsonObject,
  type LogLevel,
} from '../../../src/shared/protocol.ts';
import type { ClientFeature } from '../../../src/shared/client-capabilities.ts';
import { plainAnswer, streamAnswer } from './answer.ts';
import { Calls, type Notification, type Request, type Response } from './calls.ts';
import type { Child } from './child.ts';
import { errorText, requestText, type Change, type ChildMessage } from './child-message.ts';
import { EventStream, type Room } from './event-stream.ts';
import type { Limits } from './limits.ts';
import { Questions } from './server-requests.ts';
import { Sessions, type Session } from './sessions.ts';
import type { ToolFilter } from './tool-filter.ts';

export interface AdapterOptions {
  child: Child;
  room: Room;
  limits: Limits;
  tools: ToolFilter;
  /** The child sent a server request for this capability during a call. */
  onAsked?: ((feature: ClientFeature) => void) | undefined;
}

const LIST_CHANGED = /^notifications\/(?:tools|resources|prompts)\/list_changed$/;
/** Error codes as in servers of the SDK. */
export const NO_SESSION = errorText(
  'null',
  -32_000,
  'Bad Request: no session; send initialize first',
);
export const SESSION_UNKNOWN = errorText('null', -32_001, 'Session not found');

export class LegacyAdapter {
  readonly #options: AdapterOptions;
  readonly #initialized: string;
  readonly #calls: Calls<Session>;
  readonly #sessions: Sessions;
  readonly #questions: Questions;
  #hasAnswered = false;

  /** @param initialized raw result of `initialize` */
  constructor(options: AdapterOptions, initialized: string) {
    this.#options = options;
    this.#initialized = initialized;
    const { child, room, limits } = options;
    this.#calls = new Calls({
      child,
      room,
      limits,
      pings: true,
      onGone: gone => this.#questions.giveUpWhere(({ call }) => call === gone),
    });
    this.#sessions = new Sessions({
      limits,
      isBusy: session => this.#calls.live().some(({ owner }) => owner === session),
      onEnd: session => this.#endOf(session),
    });
    this.#questions = new Questions({
      child,
      calls: this.#calls,
      sessions: this.#sessions,
      limits,
      // Server requests before the first response belong to the start of the run, even if a call is in flight.
      onAsked: feature => this.#hasAnswered && options.onAsked?.(feature),
    });
  }

  sessionIds(): string[] {
    return this.#sessions.all().map(({ id }) => id);
  }

  /** Capabilities that the client of a session declared; undefined where there is no such session. */
  capabilitiesOf(sessionId: string): JsonObject | undefined {
    return this.#sessions.peek(sessionId)?.capabilities;
  }

  /** Handles a client's request. @param message the body of a POST */
  handle(
    request: HttpRequest,
    message: ChildMessage | undefined,
  ): HttpAnswer | Promise<HttpAnswer> {
    if (message?.kind === 'request' && message.method === 'initialize') return this.#open(message);
    const id = request.headers[SESSION_HEADER];
    if (id === undefined) return plainAnswer(400, NO_SESSION);
    const session = this.#sessions.find(id, Date.now());
    if (!session) return plainAnswer(404, SESSION_UNKNOWN);
    if (request.method === 'GET') return this.#listen(session, request.signal);
    if (request.method === 'DELETE') {
      this.#sessions.end(session);
      return plainAnswer(200);
    }
    if (message?.kind === 'request') return this.#call(session, message, request.signal);
    if (message?.kind === 'response') this.#questions.answer(session, message);
    if (message?.kind === 'notification') this.#notify(session, message);
    return plainAnswer(202);
  }

  async take(message: ChildMessage): Promise<void> {
    if (message.kind === 'response') {
      this.#hasAnswered = true;
      this.#calls.respond(message);
    } else if (message.kind === 'request') this.#questions.ask(message);
    else this.#tell(message);
    if (this.#options.room.isFull) await this.#options.room.wait();
  }

  get isBusy(): boolean {
    return this.#calls.live().length > 0;
  }

  /** A client with an open stream subscribed to a resource. */
  get isSubscribed(): boolean {
    return this.#sessions.all().some(({ stream, uris }) => stream !== undefined && uris.size > 0);
  }

  close(reason: string): void {
    this.#calls.close(reason);
    this.#sessions.close();
  }

  #open({ raw, params }: Request): HttpAnswer {
    const { capabilities } = params;
    const declared = isObject(capabilities) ? capabilities : {};
    const session = this.#sessions.open(declared, Date.now());
    const rawId = raw.get('id') ?? 'null';
    if (!session) {
      return plainAnswer(503, errorText(rawId, RPC.internalError, 'Too many sessions are open'));
    }
    const text = `{"jsonrpc":"2.0","id":${rawId},"result":${this.#initialized}}`;
    return plainAnswer(200, text, { [SESSION_HEADER]: session.id });
  }

  #listen(session: Session, signal: AbortSignal): HttpAnswer {
    const { room, limits } = this.#options;
    const stream = new EventStream(room, limits);
    session.stream?.end();
    session.stream = stream;
    const close = () => {
      stream.drop();
      if (session.stream !== stream) return;
      session.stream = undefined;
      this.#questions.giveUpWhere(place => place.session === session && !place.call);
    };
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
    return streamAnswer(stream);
  }

  #call(session: Session, request: Request, signal: AbortSignal): HttpAnswer | Promise<HttpAnswer> {
    const { method, params, raw } = request;
    const rawId = raw.get('id') ?? 'null';
    const begin = (onResponse?: (response: Response) => Change[], sent = request) =>
      this.#calls.begin(sent, session, signal, onResponse).http;
    if (method === 'tools/list') return begin(response => this.#options.tools.ofList(response.raw));
    const { uri, level } = params;
    if (method === 'resources/subscribe' && typeof uri === 'string') {
      if (session.uris.size >= this.#options.limits.uris) {
        return plainAnswer(200, errorText(rawId, RPC.invalidParams, 'Too many subscriptions'));
      }
      // Added before the response, so that the end of another session does not unsubscribe it meanwhile.
      session.uris.add(uri);
      return begin(({ isError }) => {
        if (isError) session.uris.delete(uri);
        return [];
      });
    }
    if (method === 'resources/unsubscribe' && typeof uri === 'string') {
      session.uris.delete(uri);
      const isWanted = this.#sessions.all().some(({ uris }) => uris.has(uri));
      if (isWanted) return plainAnswer(200, `{"jsonrpc":"2.0","id":${rawId},"result":{}}`);
    }
    if (method === 'logging/setLevel' && LOG_LEVELS.includes(level as LogLevel)) {
      session.logLevel = level as LogLevel;
      const least = JSON.stringify(this.#leastLevel());
      const members = rawMembers(raw.get('params') ?? '{}').set('level', least);
      const sent = { ...request, raw: new Map(raw).set('params', fromRawMembers(members)) };
      return begin(undefined, sent);
    }
    return begin();
  }

  #notify(session: Session, message: Notification): void {
    const { method, params } = message;
    if (method === 'notifications/progress') this.#questions.progress(session, message);
    if (method !== 'notifications/cancelled') return;
    const call = this.#calls.find(session, params['requestId']);
    if (call) this.#calls.cancel(call, message);
  }

  /** Passes a notification of the child to the sessions it concerns. If that cannot be known, nobody gets it. */
  #tell(message: Notification): void {
    const { method, params } = message;
    if (method === 'notifications/progress') return this.#calls.progress(message);
    if (method === 'notifications/cancelled') return this.#questions.withdraw(message);
    const text = fromRawMembers(message.raw);
    if (LIST_CHANGED.test(method)) {
      for (const { stream } of this.#sessions.all()) stream?.push(text);
    } else if (method === 'notifications/resources/updated') {
      const wanting = this.#sessions.all().filter(({ uris }) => uris.has(String(params['uri'])));
      for (const { stream } of wanting) stream?.push(text);
    } else if (method === 'notifications/elicitation/complete') {
      const id = String(params['elicitationId']);
      const asked = this.#sessions.all().find(({ elicitations }) => elicitations.has(id));
      if (asked) this.#tellSession(asked, text);
      else this.#questions.place(() => true)?.push(text);
    } else {
      this.#questions.place(session => this.#isLogged(session, message))?.push(text);
    }
  }

  #tellSession(session: Session, text: string): void {
    const call = this.#calls.live().findLast(({ owner }) => owner === session);
    if (call) call.answer.notify(text);
    else session.stream?.push(text);
  }

  /** The child logs at the lowest level that a session wants; each session gets only its own level. */
  #isLogged({ logLevel }: Session, { method, params }: Notification): boolean {
    if (method !== 'notifications/message' || logLevel === undefined) return true;
    return LOG_LEVELS.indexOf(params['level'] as LogLevel) >= LOG_LEVELS.indexOf(logLevel);
  }

  #leastLevel(): LogLevel | undefined {
    const levels = this.#sessions.all().map(({ logLevel }) => logLevel);
    return LOG_LEVELS.find(level => levels.includes(level));
  }

  #endOf(session: Session): void {
    for (const call of this.#calls.live()) if (call.owner === session) this.#calls.cancel(call);
    this.#questions.giveUpWhere(place => place.session === session);
    const wanted = new Set(this.#sessions.all().flatMap(({ uris }) => [...uris]));
    const { child } = this.#options;
    for (const uri of session.uris) {
      if (wanted.has(uri)) continue;
      child.send(requestText(child.nextId(), 'resources/unsubscribe', JSON.stringify({ uri })));
    }
  }
}
