/**
 * What the Worker asks the client's ClientSession object for: sessions at legacy upstreams, which
 * the isolate remembers so that a warm call asks no object, and calls only an object can make.
 */
import { PorticoError } from '../shared/errors/portico-error.ts';
import { Lru } from '../shared/util/lru.ts';
import { isObject, type JsonObject, type RequestId } from '../shared/protocol.ts';
import type { CallContext, CallMessages } from '../upstream/protocol/call.ts';
import { addressOf, type UpstreamEndpoint } from '../upstream/endpoint.ts';
import type { RawResponse } from '../upstream/protocol/message.ts';
import type { Question, RawAnswer } from '../upstream/protocol/server-request.ts';
import type { CallSession, Hearing, ObjectCall } from '../upstream/upstream-client.ts';
import { fromRawMembers, rawMembers, type RawObject } from '../shared/json/json-spans.ts';
import { acquireSession, type UpstreamSession } from '../upstream/session/acquire-session.ts';
import { isHeavy, roomToParse, toEventMeter } from '../upstream/metered.ts';
import { progressTokenIn, renamedProgress } from '../upstream/protocol/progress-token.ts';
import { readLines, type CallLine, type SuspendedRequest } from './call-stream.ts';
import { openListener } from './call-listeners.ts';
import { QuietCalls } from './quiet-calls.ts';
import { openLine, type QuestionLine } from './question-channel.ts';
import type { ClientObject, EndedSession } from './client-object.ts';
import type { SessionCopies } from './session-copies.ts';
import type { ObjectsByName } from '../shared/util/objects-by-name.ts';

/** How long the isolate believes in a session before it asks the object again, while a call is on its way; in milliseconds. */
const REMEMBER_MS = 60_000;
/** A copy is no older, in milliseconds: the row that it comes with is read anew before (`access/admission/snapshots.ts`). */
const COPY_AGE_MS = 30_000;
/** A quiet call that lasts so long hears its session's notification stream from then on, in milliseconds. */
const LASTS_MS = 2_000;

interface Remembered {
  session: UpstreamSession;
  at: number;
}

export class UpstreamSessions {
  readonly #objects: ObjectsByName<ClientObject>;
  readonly #copies: SessionCopies;
  readonly #maxBytes: number;
  readonly #quiet = new QuietCalls();
  readonly #remembered = new Lru<string, Remembered>(20_000);
  /** When upstreams forgot sessions last: a copy that was read before may be of one. */
  readonly #forgottenAt = new Lru<string, number>(20_000);

  constructor(objects: ObjectsByName<ClientObject>, copies: SessionCopies, maxBytes: number) {
    this.#objects = objects;
    this.#copies = copies;
    this.#maxBytes = maxBytes;
  }

  /**
   * A session that is remembered or copied is used at once, and the object is asked about it meanwhile.
   * @throws PorticoError with an `upstream_*` code where the handshake fails
   */
  async acquire(
    context: CallContext,
    endpoint: UpstreamEndpoint,
    hearing: Hearing,
  ): Promise<CallSession> {
    const { serverId, credentialKey } = endpoint;
    const owner = context.owner(serverId);
    const key = `${owner} ${serverId}`;
    const found = this.#remembered.get(key) ?? (await this.#copied(context, owner, serverId));
    const now = Date.now();
    if (found?.session.credentialKey === credentialKey) {
      if (now - found.at >= REMEMBER_MS) context.waitUntil(this.#confirm(found, owner, serverId));
      return this.#hearing(context, endpoint, found, hearing);
    }
    const object = this.#object(owner);
    const { capabilities } = context;
    const session = await acquireSession(object, endpoint, capabilities, this.#maxBytes);
    const fresh = { session, at: now };
    this.#remembered.set(key, fresh);
    const heard = await this.#hearing(context, endpoint, fresh, hearing);
    context.waitUntil(this.#copies.keep(owner, serverId, fresh.session));
    return heard;
  }

  /** What the row of the client's session has, as remembered from now on; the object is to be asked about it. */
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

  /** Tells the object that a session is used, and takes the one that it has, if that is another. */
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
   * The session with what hears its notification stream, for a client that is asked while its call goes
   * on. A call that may be asked something there leaves once the stream is open; a quiet one leaves
   * at once, and asks the object for nothing unless it lasts.
   */
  async #hearing(
    context: CallContext,
    endpoint: UpstreamEndpoint,
    known: Remembered,
    { what, progressToken }: Hearing,
  ): Promise<CallSession> {
    const { session } = known;
    const { capabilities, questions } = context;
    const isAsked = questions === 'ask' && Object.keys(capabilities).length > 0;
    if (session.hasNoStream || !isAsked) return session;
    const { serverId } = endpoint;
    const called = { serverId, what, capabilities };
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
    const { opened, ...heard } = openListener(object, opening, isQuiet ? LASTS_MS : 0);
    const listener = this.#quiet.noting(called, heard);
    const state = isQuiet ? 'open' : await opened;
    if (state === 'open') return { ...session, listener };
    listener.close();
    if (state === 'none') known.session = { ...session, hasNoStream: true };
    return known.session;
  }

  /** The upstream forgot this session. */
  async forget(context: CallContext, endpoint: UpstreamEndpoint, sessionId: string): Promise<void> {
    const owner = context.owner(endpoint.serverId);
    const key = `${owner} ${endpoint.serverId}`;
    this.#remembered.delete(key);
    this.#forgottenAt.set(key, Date.now());
    await this.#object(owner).forget(endpoint.serverId, sessionId);
  }

  /**
   * A call that the object makes. A client that answers with its next request gets a suspended call as
   * an `input_required` result; the retry, known by its `requestState`, goes on with it.
   */
  async call(call: ObjectCall, context: CallContext): Promise<CallMessages> {
    const object = this.#object(context.owner(call.server.id));
    const { capabilities, questions } = context;
    const callId = text(call.request.params.get('requestState'));
    const isRetry = questions === 'suspend' && callId !== undefined;
    const lines = isRetry
      ? object.resumeCall(callId, answersOf(call.request.params))
      : object.startCall(call, { capabilities, questions });
    const { bytes, signal } = context;
    // Written as text in JSON, an answer takes up to twice its size.
    const onHeld = bytes && toEventMeter(bytes, 2 * this.#maxBytes, signal);
    const messages = toMessages(
      readLines(await lines, signal, onHeld),
      (id, key, answer) => object.answerCall(id, key, answer),
      context,
    );
    // The server goes on under the token of the first request.
    return isRetry ? withToken(messages, progressTokenIn(call.request.params)) : messages;
  }

  /** Open the way on which answers to questions come back to a call of this owner. */
  openLine(owner: string, timeoutMs: number): Promise<QuestionLine> {
    return openLine(this.#object(owner), timeoutMs);
  }

  /** Pass a client's answer on to the call that waits for it. @returns false where none does */
  async passAnswer(owner: string, id: RequestId, answer: RawAnswer): Promise<boolean> {
    return this.#object(owner).passAnswer(id, answer);
  }

  /** Forget all sessions of an owner. Returns what is to be ended at the upstreams. */
  async end(owner: string): Promise<EndedSession[]> {
    const ended = await this.#object(owner).end();
    for (const { serverId } of ended) this.#remembered.delete(`${owner} ${serverId}`);
    return ended;
  }

  #object(owner: string) {
    return this.#objects.getByName(owner);
  }
}

/** The messages with progress under another token; without one, nobody wants to hear of it. */
async function* withToken(messages: CallMessages, token: string | undefined): CallMessages {
  for await (const message of messages) {
    const isProgress =
      message.kind === 'notification' && message.method === 'notifications/progress';
    if (!isProgress) yield message;
    else if (token !== undefined) yield { ...message, text: renamedProgress(message.text, token) };
  }
}

type Answer = (callId: string, key: string, answer: RawAnswer) => Promise<void>;

async function* toMessages(
  lines: AsyncGenerator<Exclude<CallLine, { kind: 'failure' }>, void, undefined>,
  answer: Answer,
  { bytes, signal }: Pick<CallContext, 'bytes' | 'signal'>,
): CallMessages {
  const asked = new Map<string, Question>();
  for await (const line of lines) {
    if (line.kind === 'notification') yield line;
    else if (line.kind === 'question') {
      const { callId, key, method, params } = line;
      const give = (given: RawAnswer) => answer(callId, key, given);
      const question: Question = { kind: 'question', method, params, answer: give };
      asked.set(key, question);
      yield question;
    } else if (line.kind === 'withdrawal') {
      const of = asked.get(line.key);
      if (of) yield { kind: 'withdrawal', of };
    } else if (line.kind === 'parked') {
      yield toInputRequired(line.callId, line.questions);
      return;
    } else {
      bytes?.settle();
      const leave =
        bytes && isHeavy(line.text) ? await roomToParse(line.text, bytes, signal) : undefined;
      const response = toResponse(line);
      leave?.();
      yield response;
      return;
    }
  }
  throw new PorticoError('upstream_no_response');
}

function toResponse(line: { kind: 'result' | 'error'; text: string }): RawResponse {
  const parsed = JSON.parse(line.text) as JsonObject;
  return line.kind === 'result'
    ? { kind: 'response', result: line.text, parsed }
    : { kind: 'response', error: line.text, parsed };
}

/** A suspended call as the result that asks the client to come back. */
function toInputRequired(callId: string, questions: readonly SuspendedRequest[]): RawResponse {
  const requests: RawObject = new Map(
    questions.map(({ key, method, params }) => [
      key,
      `{"method":${JSON.stringify(method)},"params":${params}}`,
    ]),
  );
  const result = fromRawMembers(
    new Map([
      ['resultType', '"input_required"'],
      ['inputRequests', fromRawMembers(requests)],
      ['requestState', JSON.stringify(callId)],
    ]),
  );
  return { kind: 'response', result, parsed: { resultType: 'input_required' } };
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
