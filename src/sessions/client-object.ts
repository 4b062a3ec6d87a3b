/**
 * What the rooms ask of a client's object. `ClientSession` implements it; whoever calls takes the part that it needs.
 */
import type { LogLevel, RequestId } from '../shared/protocol.ts';
import type { SessionHolder, UpstreamSession } from '../upstream/session/acquire-session.ts';
import type { RawAnswer } from '../upstream/protocol/server-request.ts';
import type { SessionSubscription } from '../upstream/session/session-subscriptions.ts';
import type { ObjectCall } from '../upstream/upstream-client.ts';
import type { Audience, ChangeEvent, Subscription, WatchFailure } from '../shared/events.ts';
import type { AnswerByKey } from './handed-over-calls.ts';
import type { CallTerms } from './object-calls.ts';

/** A session to be ended at its server. */
export interface EndedSession {
  serverId: string;
  session: UpstreamSession;
}

export interface ClientObject extends SessionHolder {
  /** A WebSocket for one of the paths that `ClientSession.fetch` names. */
  fetch(url: string, init: { headers: Record<string, string> }): Promise<Response>;
  /** The upstream forgot a session. */
  forget(serverId: string, sessionId: string): Promise<void>;
  /** Have a server tell an object of a resource in this client's session. @returns why it will not, if so */
  subscribeInSession(wanted: SessionSubscription): Promise<WatchFailure | undefined>;
  setLogLevel(level: LogLevel): Promise<void>;
  /** Make a call that an object must make; its messages come as lines. */
  startCall(call: ObjectCall, terms: CallTerms): Promise<ReadableStream<Uint8Array>>;
  /** Take over a call that another makes, whose server asks; its messages come as lines, and as lines they are told. */
  adoptCall(
    lines: ReadableStream<Uint8Array>,
    answer: AnswerByKey,
    terms: CallTerms,
  ): Promise<ReadableStream<Uint8Array>>;
  /** Go on with a call that waits for its client. */
  resumeCall(
    callId: string,
    answers: [key: string, answer: RawAnswer][],
  ): Promise<ReadableStream<Uint8Array>>;
  /** The answer to a question of a call that goes on meanwhile. */
  answerCall(callId: string, key: string, answer: RawAnswer): Promise<void>;
  cancelCall(key: string): Promise<void>;
  /** @returns false where no Worker holds the client's stream */
  relay(text: string, authorization: string): Promise<boolean>;
  /** @returns false where the session has too many subscriptions */
  subscribe(owner: string, audience: Audience, wanted: Subscription): Promise<boolean>;
  unsubscribe(owner: string, unwanted: Subscription): Promise<void>;
  /** @returns false where nobody wants to hear any more */
  announce(owner: string, change: ChangeEvent): Promise<boolean>;
  /** @returns false where no call waits for this answer */
  passAnswer(id: RequestId, answer: RawAnswer): Promise<boolean>;
  /** Forget everything. @returns what to end at the upstreams */
  end(): Promise<EndedSession[]>;
}

/** The part of a monitor's object that streams ask. */
export interface ResourceMonitor {
  /** Have a server tell an object of a resource. @returns why it will not, if so */
  subscribe(owner: string, uri: string): Promise<WatchFailure | undefined>;
}
