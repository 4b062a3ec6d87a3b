/**
 * ClientSession: the state of one client that must outlive a request. Owns the client's sessions at legacy upstreams, the few calls that an
 * object must make itself (`object-calls.ts`; the Worker makes all others), and the tokens of its account. Keyed by `session:{id}` for a
 * legacy client and `principal:{id}:{server}` for callers without a session.
 *
 * Invariants: an upstream session is stored before it is used; an object that was not used for the idle time deletes itself; the methods
 * are reachable only through the binding.
 */
import { isSessionOwner } from '../shared/identity/object-owners.ts';
import { DurableObject } from 'cloudflare:workers';
import { accountsOf } from './accounts-of.ts';
import { unsubscribeAll } from './unsubscribe.ts';
import { createUpstreamEndpoints } from './upstream-endpoints.ts';
import { configOf } from '../config.ts';
import type { LogLevel, RequestId } from '../shared/protocol.ts';
import type { AccountTokenReply, Held } from '../servers/accounts/account-token-schema.ts';
import { findServerOf } from '../servers/accounts/reached-servers.ts';
import { createKeyRing } from '../shared/crypto/key-ring.ts';
import { RemoteAccessTokens } from '../credentials/oauth/remote-access-tokens.ts';
import type { Acquired, UpstreamSession } from '../upstream/session/acquire-session.ts';
import type { RawAnswer } from '../upstream/protocol/server-request.ts';
import { ClientUpstreams } from '../upstream/session/client-upstreams.ts';
import type { ObjectCall } from '../upstream/upstream-client.ts';
import type { SessionSubscription } from '../upstream/session/session-subscriptions.ts';
import { StoredSessions } from '../sessions/stored-sessions.ts';
import type { EndedSession, Stored } from '../sessions/client-object.ts';
import { CallListeners } from '../sessions/call-listeners.ts';
import { CancelledCalls } from '../sessions/cancellations.ts';
import { OwnStreamReader } from '../sessions/own-reader.ts';
import { keepAnswer, type AnswerByKey } from '../sessions/handed-over-calls.ts';
import { ObjectCalls, type CallTerms } from '../sessions/object-calls.ts';
import { acceptChannel, passAnswer } from '../sessions/question-channel.ts';
import type { Audience, ChangeEvent, Subscription, WatchFailure } from '../shared/events.ts';
import { OpenStreams, STREAM_TAG } from '../sessions/open-streams.ts';
import { acceptRelay, relay } from '../sessions/sse-relay.ts';
import type { StreamOpening, StreamView } from '../sessions/stream-opening.ts';
import { UpstreamClaims } from '../upstream/session/session-lock.ts';
import { UseClock } from '../sessions/use-clock.ts';

/** Longest time one caller may take to open an upstream session. */
const CLAIM_LIMIT_MS = 15_000;
/** Interval at which the streams of sessions with subscriptions are checked, in milliseconds. */
const KEEP_MS = 60_000;

export class ClientSession extends DurableObject<Env> {
  readonly #claims = new UpstreamClaims(CLAIM_LIMIT_MS);
  readonly #config = configOf(this.env);
  readonly #endpoints = createUpstreamEndpoints(
    this.env.CONNECTOR,
    createKeyRing(this.env.PORTICO_KEYS),
    this.#config,
    new RemoteAccessTokens(id => this.env.SERVER_MONITOR.getByName(id)),
    this.env.CLIENT_SESSION,
  );
  readonly #accounts = accountsOf(this.env, this.ctx, this.#endpoints);
  readonly #stored = new StoredSessions(this.ctx.storage);
  readonly #clock = new UseClock(this.ctx.storage, this.#config.sessionIdleMs, KEEP_MS);
  readonly #ownReader = this.#createOwnReader();
  readonly #upstreams = this.#createUpstreams();
  readonly #listeners = new CallListeners(this.ctx, {
    open: async ({ address, session }) => {
      const { streams } = this.#upstreams;
      const state = await streams.hold(this.#endpoints.visible(address), session);
      return { state, shared: streams.find(address.serverId, session.sessionId)?.shared };
    },
    workerStream: (serverId, session) =>
      this.#ownReader.isThere ? this.#upstreams.streams.workerStream(serverId, session) : undefined,
  });
  readonly #calls = new ObjectCalls(this.#upstreams.calls, this.#config, this.ctx.id);
  readonly #cancelled = new CancelledCalls(this.ctx);
  readonly #streams = new OpenStreams(this.ctx, {
    db: this.env.DB,
    limits: this.#config.replay,
    resumeMs: this.#config.sessionIdleMs,
    onUnwanted: (owner, resources) =>
      unsubscribeAll(this.env, owner, resources, one => this.unsubscribeInSession(one)),
  });

  /** Returns the session at a server, or the right to open it. Waits while another caller is opening it. */
  async acquire(serverId: string, credentialKey: string): Promise<Acquired> {
    await this.#clock.touch();
    for (;;) {
      const session = await this.#stored.find(serverId);
      if (session?.credentialKey === credentialKey) return { session };
      const claim = await this.#claims.claim(serverId);
      if (claim !== undefined) return { claim };
    }
  }

  /** Stores the session that a claim was for, also if the object was deleted meanwhile. Without one, the next caller may open one. */
  async settle(serverId: string, claim: string, session?: UpstreamSession): Promise<boolean> {
    if (!this.#claims.holds(serverId, claim)) return false;
    if (session) {
      await Promise.all([this.#clock.touch(), this.#stored.keep(serverId, session)]);
      await this.#ownReader.read(serverId, session);
    }
    return this.#claims.settle(serverId, claim);
  }

  /** Forgets a session that the upstream no longer knows. A newer session stays. */
  async forget(serverId: string, sessionId: string): Promise<void> {
    await this.#stored.forget(serverId, sessionId);
    this.#upstreams.forget(serverId, sessionId);
  }

  /** Subscribes an object to a resource in this client's session at the server. @returns the failure, if the server refuses */
  async subscribeInSession(wanted: SessionSubscription): Promise<WatchFailure | undefined> {
    await this.#clock.touch();
    return this.#upstreams.subscriptions.subscribe(wanted);
  }

  /** Ends an object's subscription to a resource in this client's session. */
  async unsubscribeInSession(unwanted: Omit<SessionSubscription, 'capabilities'>): Promise<void> {
    await this.#upstreams.subscriptions.unsubscribe(unwanted);
  }

  /** Returns a token of the principal's account at this object's server. The token is not lost if the requester is gone meanwhile. */
  accountToken(held: Held): Promise<AccountTokenReply> {
    return this.#accounts.tokens.answer(held);
  }

  /** The server requires a scope that the account lacks. */
  wantScope(accountId: string, scope: string): Promise<void> {
    return this.#accounts.tokens.want(accountId, scope);
  }

  /** Reads in the background, if due, which items of the server's catalog its lists for the principal's account lack. */
  readOwnLists(serverId: string): void {
    this.#accounts.lists.read(serverId);
  }

  /** Sets the client's log level: at once for what is open now, with the next call for everything else. */
  async setLogLevel(level: LogLevel): Promise<void> {
    this.#ownReader.setLevel(level);
    await this.#upstreams.setLevel(level);
  }

  /** Makes a call that an object must make. Its messages are lines (`sessions/call-stream.ts`). */
  async startCall(call: ObjectCall, terms: CallTerms): Promise<ReadableStream<Uint8Array>> {
    await this.#clock.touch();
    return this.#calls.start(call, terms, work => this.ctx.waitUntil(work));
  }

  /** Takes over a Worker's call because the server sent a server request. Messages are lines in both directions. */
  async adoptCall(
    lines: ReadableStream<Uint8Array>,
    answer: AnswerByKey,
    terms: CallTerms,
  ): Promise<ReadableStream<Uint8Array>> {
    const kept = keepAnswer(answer);
    await this.#clock.touch();
    return this.#calls.adopt(lines, kept, terms);
  }

  /** Resumes a suspended call with the client's answers. */
  async resumeCall(
    callId: string,
    answers: [key: string, answer: RawAnswer][],
  ): Promise<ReadableStream<Uint8Array>> {
    await this.#clock.touch();
    return this.#calls.resume(callId, new Map(answers));
  }

  /** Passes on the answer to a server request of a call that keeps running. */
  async answerCall(callId: string, key: string, answer: RawAnswer): Promise<void> {
    await this.#calls.answer(callId, key, answer);
  }

  /** Accepts all other WebSockets. The class that accepts a path documents it. */
  override fetch(request: Request): Response | Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === OwnStreamReader.PATH) return this.#ownReader.accept();
    if (pathname === '/stream') return this.#streams.accept();
    if (pathname === '/relay') return acceptRelay(this.ctx);
    if (CancelledCalls.takes(pathname))
      return this.#cancelled.accept(searchParams.get('key') ?? '');
    if (CallListeners.takes(pathname)) return this.#listeners.accept();
    return acceptChannel(this.ctx, searchParams.get('id') ?? '');
  }

  /** The client cancelled a request; `key` identifies it. */
  cancelCall(key: string): void {
    this.#cancelled.cancel(key);
  }

  /** Sends a message to the Worker that holds an HTTP+SSE client's stream. @returns false if no Worker does */
  relay(text: string, authorization: string): boolean {
    return relay(this.ctx, text, authorization);
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const tags = this.ctx.getTags(socket);
    if (tags.includes(CallListeners.TAG)) return this.#listeners.receive(socket, String(message));
    if (tags.includes(OwnStreamReader.TAG)) return this.#ownReader.receive(socket, String(message));
    if (!tags.includes(STREAM_TAG)) return;
    await this.#clock.touch();
    const said = JSON.parse(String(message)) as StreamOpening | StreamView;
    if (!('owner' in said)) return this.#streams.recheck(socket, said);
    await this.#streams.open(socket, said);
    // Renews the session's earlier subscriptions.
    if (said.kind === 'session') this.ctx.waitUntil(this.#upstreams.subscriptions.keep());
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    const tags = this.ctx.getTags(socket);
    this.#listeners.leave(socket);
    if (tags.includes(OwnStreamReader.TAG)) return this.#ownReader.leftBy(socket);
    if (!tags.includes(STREAM_TAG)) return;
    await this.#clock.touch();
    await this.#streams.close(socket);
  }

  /** Subscribes the session to a resource. */
  async subscribe(owner: string, audience: Audience, wanted: Subscription): Promise<Stored> {
    await this.#clock.touch();
    return this.#streams.subscribe(owner, audience, wanted);
  }

  /** Ends the session's subscription to a resource, or only where it was made before. */
  unsubscribe(owner: string, unwanted: Subscription, isMoved = false): Promise<void> {
    return this.#streams.unsubscribe(owner, unwanted, isMoved);
  }

  /** A broken socket is handled like a closed one. */
  override webSocketError(socket: WebSocket): Promise<void> {
    return this.webSocketClose(socket);
  }

  /** Announces a change at a server to the owner's streams. @returns false if no stream here wants to know any more */
  announce(owner: string, change: ChangeEvent): Promise<boolean> {
    return this.#streams.announce(owner, change);
  }

  /** Passes a client's answer to the call whose server request it answers. @returns false if no call waits for it */
  passAnswer(id: RequestId, answer: RawAnswer): boolean {
    return passAnswer(this.ctx, id, answer);
  }

  /** The client ended its session: forgets everything. @returns the sessions to end at the upstreams */
  async end(): Promise<EndedSession[]> {
    const stored = await this.#stored.all();
    this.#upstreams.close();
    await this.#streams.end();
    await this.#clock.clear();
    await this.ctx.storage.deleteAll();
    return stored;
  }

  override async alarm(): Promise<void> {
    const { subscriptions } = this.#upstreams;
    const isKept = (await subscriptions.all()).length > 0;
    const isUsed = this.#streams.isOpen || subscriptions.isForOthers;
    const keeps = isUsed && isKept && !this.#isReadElsewhere;
    if (await this.#clock.settle(isUsed, keeps)) await this.end();
    else if (keeps) await subscriptions.keep();
  }

  /** Whether the Worker that holds the client's own stream also keeps all streams of its sessions. */
  get #isReadElsewhere(): boolean {
    return this.#ownReader.isThere && !this.#upstreams.subscriptions.isForOthers;
  }

  #createOwnReader(): OwnStreamReader {
    return new OwnStreamReader(this.ctx, {
      sessions: () => this.#stored.all(),
      onMessage: ({ serverId, session }, message) =>
        this.#upstreams.streams.take(serverId, session, message),
      onState: ({ serverId, session }, state) => {
        if (state === 'none')
          this.ctx.waitUntil(this.#stored.noteNoStream(serverId, session.sessionId));
      },
      onChange: () => this.#upstreams.streams.changeHands(),
    });
  }

  #createUpstreams(): ClientUpstreams {
    return new ClientUpstreams(
      {
        holder: this,
        storage: this.ctx.storage,
        claims: this.#claims,
        findSession: serverId => this.#stored.find(serverId),
        endpoints: this.#endpoints,
        findServer: serverId => findServerOf(this.env.DB, serverId, this.ctx.id.name ?? ''),
        onNone: (serverId, sessionId) => this.#stored.noteNoStream(serverId, sessionId),
        own: this.#ownReader,
        isOpen: () => this.#streams.isOpen,
        notify: (owner, change) =>
          isSessionOwner(owner)
            ? this.#streams.announce(owner, change)
            : this.env.CLIENT_SESSION.getByName(owner).announce(owner, change),
        onLog: (serverId, text) => this.#streams.log(serverId, text),
        wake: async serverId => this.env.SERVER_MONITOR.getByName(serverId).wake(),
        waitUntil: work => this.ctx.waitUntil(work),
        onKept: async () => this.#isReadElsewhere || this.#clock.wakeSoon(),
      },
      this.#config,
    );
  }
}
