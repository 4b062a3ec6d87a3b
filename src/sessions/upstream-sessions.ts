/**
 * What the Worker needs from the client's ClientSession object: sessions at legacy upstreams, which the isolate remembers so that a warm
 * call asks no object, and calls that only an object can make.
 */
import type { Mode } from '../http/host-settings.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { Lru } from '../shared/util/lru.ts';
import { isObject, type RequestId } from '../shared/protocol.ts';
import type { CallContext, CallMessages, CallReply } from '../upstream/protocol/call.ts';
import { kindOf } from '../upstream/protocol/wire-request.ts';
import { addressOf, type UpstreamEndpoint } from '../upstream/endpoint.ts';
import type { RawAnswer } from '../upstream/protocol/server-request.ts';
import type { CallSession, SessionNeeds, ObjectCall } from '../upstream/upstream-client.ts';
import { rawMembers, type RawObject } from '../shared/json/json-spans.ts';
import { acquireSession, type UpstreamSession } from '../upstream/session/acquire-session.ts';
import { toEventMeter } from '../http/read-text.ts';
import { progressTokenIn, renamedProgress } from '../upstream/protocol/progress-token.ts';
import { readLines, toMessages } from './call-stream.ts';
import { callHere } from './handed-over-calls.ts';
import { openListener } from './call-listeners.ts';
import { QuietCalls, toCalled } from './quiet-calls.ts';
import { SessionPool } from './session-pool.ts';
import { openChannel, type QuestionChannel } from './question-channel.ts';
import type { ClientObject, EndedSession } from './client-object.ts';
import type { SessionCopies } from './session-copies.ts';
import type { ObjectsByName } from '../shared/util/objects-by-name.ts';

/** How long the isolate trusts a session before it asks the object again, in the background of a call; in milliseconds. */
const REMEMBER_MS = 60_000;
/** Largest age of a copy, in milliseconds: the row that holds it is read again by then (`access/admission/snapshots.ts`). */
const COPY_AGE_MS = 30_000;
/** A quiet call that lasts this long listens to its session's notification stream from then on, in milliseconds. */
const LASTS_MS = 2_000;

export interface SessionSettings {
  maxAnswerBytes: number;
  mode: Mode;
}

interface Remembered {
  session: UpstreamSession;
  at: number;
}

/**
 * Thrown for a call of a client that answers with its next request, which cannot leave here: its server may send a server request on a
 * stream that this isolate does not read.
 */
class NeedsObject extends Error {}

export class UpstreamSessions {
  readonly #objects: ObjectsByName<ClientObject>;
  readonly #copies: SessionCopies;
  readonly #maxBytes: number;
  /** A Worker on Cloudflare ends 30 seconds after its response. */
  readonly #outlivesResponses: boolean;
  readonly #quiet = new QuietCalls();
  readonly #pool: SessionPool;
  readonly #remembered = new Lru<string, Remembered>(20_000);
  /** When upstreams last forgot sessions: a copy that was read before may be of a forgotten one. */
  readonly #forgottenAt = new Lru<string, number>(20_000);

  constructor(
    objects: ObjectsByName<ClientObject>,
    copies: SessionCopies,
    { maxAnswerBytes, mode }: SessionSettings,
  ) {
    this.#objects = objects;
    this.#copies = copies;
    this.#maxBytes = maxAnswerBytes;
    this.#pool = new SessionPool(maxAnswerBytes);
    this.#outlivesResponses = mode !== 'production';
  }

  /**
   * Returns a session. One that is remembered or copied is used at once; the object is asked about it in the background.
   * @throws PorticoError with an `upstream_*` code where the handshake fails
   */
  async acquire(
    context: CallContext,
    endpoint: UpstreamEndpoint,
    needs: SessionNeeds,
  ): Promise<CallSession> {
    const { serverId, credentialKey } = endpoint;
    const owner = context.owner(serverId);
    const key = `${owner} ${serverId}`;
    const found = this.#remembered.get(key) ?? (await this.#copied(context, owner, serverId));
    const now = Date.now();
    if (found?.session.credentialKey === credentialKey) {
      if (now - found.at >= REMEMBER_MS) context.waitUntil(this.#confirm(found, owner, serverId));
      return this.#withListener(context, endpoint, found, needs);
    }
    const object = this.#object(owner);
    const session = await acquireSession(object, endpoint, context.capabilities, this.#maxBytes);
    const fresh = { session, at: now };
    this.#remembered.set(key, fresh);
    const listening = await this.#withListener(context, endpoint, fresh, needs);
    context.waitUntil(this.#copies.keep(owner, serverId, fresh.session));
    return listening;
  }

  /** Returns the session from the row of the client's session and remembers it; the object is still to be asked about it. */
  async #copied(
    { copies }: CallContext,
    owner: string,
    serverId: string,
  ): Promise<Remembered | undefined> {
    const key = `${owner} ${serverId}`;
    if (Date.now() - (this.#forgottenAt.get(key) ?? -Infinity) < COPY_AGE_MS) return undefined;
    const session = await this.#copies.open(copies, owner, serverId);
    if (!session) return undefined;
    const copied = { session, at: -Infinity };
    this.#remembered.set(key, copied);
    return copied;
  }

  /** Tells the object that a session is used, and adopts the object's session where that is another one. */
  async #confirm(used: Remembered, owner: string, serverId: string): Promise<void> {
    const { session } = used;
    used.at = Date.now();
    const object = this.#object(owner);
    const acquired = await object.acquire(serverId, session.credentialKey);
    const isUsed = this.#remembered.get(`${owner} ${serverId}`) === used;
    if ('claim' in acquired) {
      await object.settle(serverId, acquired.claim, isUsed ? session : undefined);
    } else if (isUsed && acquired.session.sessionId !== session.sessionId) {
      used.session = acquired.session;
      await this.#copies.keep(owner, serverId, acquired.session);
    }
  }

  /**
   * Returns the session with a listener on its notification stream, for a client that can be asked. A call that may get a server request
   * there leaves once the stream is open. A quiet call leaves at once, and asks the object for nothing unless it lasts.
   * @throws NeedsObject for a client that answers with its next request, where no session is free
   */
  async #withListener(
    context: CallContext,
    endpoint: UpstreamEndpoint,
    known: Remembered,
    { what, progressToken }: SessionNeeds,
  ): Promise<CallSession> {
    const { session } = known;
    const { capabilities, questions } = context;
    const answers = Object.keys(capabilities).length > 0;
    if (session.hasNoStream || !answers) return session;
    const { serverId } = endpoint;
    if (questions === 'suspend') {
      const owner = context.owner(serverId);
      const pooled = this.#pool.take(owner, endpoint, context, progressToken());
      if (pooled) return pooled;
      throw new NeedsObject();
    }
    const called = toCalled(serverId, what, context);
    const object = () => this.#object(context.owner(serverId));
    const opening = () => {
      return {
        address: addressOf(endpoint),
        session,
        capabilities,
        progressToken: progressToken(),
      };
    };
    const isQuiet = this.#quiet.has(called);
    const { opened, ...remote } = openListener(
      object,
      opening,
      isQuiet ? LASTS_MS : 0,
      context.timers,
    );
    const listener = this.#quiet.noting(called, remote);
    const state = isQuiet ? 'open' : await opened;
    if (state === 'open') return { ...session, listener };
    // Without a stream nothing shows whether the call is quiet, so it is not counted.
    remote.close();
    if (state === 'none') known.session = { ...session, hasNoStream: true };
    return known.session;
  }

  /** The upstream forgot this session. */
  async forget(context: CallContext, endpoint: UpstreamEndpoint, sessionId: string): Promise<void> {
    const owner = context.owner(endpoint.serverId);
    const key = `${owner} ${endpoint.serverId}`;
    this.#pool.forget(owner, endpoint.serverId);
    this.#remembered.delete(key);
    this.#forgottenAt.set(key, Date.now());
    await this.#object(owner).forget(endpoint.serverId, sessionId);
  }

  /**
   * Makes a call that belongs to the object; where the tool was quiet, this isolate makes it. A client that answers with its next request
   * gets a suspended call as an `input_required` result; its retry, known by the `requestState`, continues the call.
   * @param here makes the call in this isolate; absent where only the object can
   */
  async call(
    call: ObjectCall,
    context: CallContext,
    here?: (context: CallContext) => Promise<CallReply>,
  ): Promise<CallReply> {
    if (!here || !this.#outlivesResponses) {
      return { messages: await this.#callThere(call, cuttable(context)) };
    }
    const { capabilities, questions } = context;
    const called = toCalled(call.server.id, kindOf(call.request, call.name), context);
    if (!this.#quiet.has(called)) {
      const messages = await this.#callThere(call, cuttable(context));
      return { messages: this.#quiet.notingMessages(called, messages) };
    }
    const object = this.#object(context.owner(call.server.id));
    try {
      return await callHere(context, here, async (lines, answer) => {
        this.#quiet.note(called, false);
        const adopted = await object.adoptCall(lines, answer, { capabilities, questions });
        return this.#toMessages(object, adopted, context);
      });
    } catch (error) {
      if (!(error instanceof NeedsObject)) throw error;
      return { messages: await this.#callThere(call, cuttable(context)) };
    }
  }

  async #callThere(call: ObjectCall, context: CallContext): Promise<CallMessages> {
    const object = this.#object(context.owner(call.server.id));
    const { capabilities, questions } = context;
    const callId = text(call.request.params.get('requestState'));
    const isRetry = questions === 'suspend' && callId !== undefined;
    const lines = isRetry
      ? object.resumeCall(callId, answersOf(call.request.params))
      : object.startCall(call, { capabilities, questions });
    const messages = this.#toMessages(object, await lines, context);
    // The server still uses the progress token of the first request.
    return isRetry ? withToken(messages, progressTokenIn(call.request.params)) : messages;
  }

  #toMessages(
    object: ClientObject,
    lines: ReadableStream<Uint8Array>,
    { bytes, signal }: CallContext,
  ): CallMessages {
    // As text within JSON, a response takes up to twice its size.
    const onHeld = bytes && toEventMeter(bytes, 2 * this.#maxBytes, signal);
    return toMessages(
      readLines(lines, signal, onHeld),
      (id, key, answer) => object.answerCall(id, key, answer),
      { bytes, signal },
    );
  }

  /** Opens the channel for answers to the server requests of an owner's call. */
  openQuestionChannel(owner: string, timeoutMs: number): Promise<QuestionChannel> {
    return openChannel(this.#object(owner), timeoutMs);
  }

  /** Passes a client's answer to the call that waits for it. @returns false where none does */
  async passAnswer(owner: string, id: RequestId, answer: RawAnswer): Promise<boolean> {
    return this.#object(owner).passAnswer(id, answer);
  }

  /** Forgets all sessions of an owner. @returns the sessions to end at the upstreams */
  async end(owner: string): Promise<EndedSession[]> {
    const ended = await this.#object(owner).end();
    for (const { serverId } of ended) this.#remembered.delete(`${owner} ${serverId}`);
    return ended;
  }

  #object(owner: string) {
    return this.#objects.getByName(owner);
  }
}

/** Yields the messages with progress under another token; without a token, progress is dropped. */
async function* withToken(messages: CallMessages, token: string | undefined): CallMessages {
  for await (const message of messages) {
    const isProgress =
      message.kind === 'notification' && message.method === 'notifications/progress';
    if (!isProgress) yield message;
    else if (token !== undefined) yield { ...message, text: renamedProgress(message.text, token) };
  }
}

/** Makes the call's cut function abort its signal, for a call that an object makes. */
function cuttable(context: CallContext): CallContext {
  const controller = new AbortController();
  context.onCuttable?.(() => controller.abort());
  return { ...context, signal: AbortSignal.any([context.signal, controller.signal]) };
}

/** The client's answers, raw. */
function answersOf(params: RawObject): [key: string, answer: RawAnswer][] {
  const responses = params.get('inputResponses') ?? '{}';
  if (!isObject(JSON.parse(responses))) {
    throw new PorticoError('invalid_params', 'params.inputResponses must be an object');
  }
  return [...rawMembers(responses)].map(([key, result]) => [key, { result }]);
}

function text(raw: string | undefined): string | undefined {
  const value: unknown = raw === undefined ? undefined : JSON.parse(raw);
  return typeof value === 'string' ? value : undefined;
}
