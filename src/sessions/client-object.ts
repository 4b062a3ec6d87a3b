/** Methods of a client's object that the rooms call. `ClientSession` implements them; each caller takes only the part that it needs. */
import type { LogLevel, RequestId } from '../shared/protocol.ts';
import type { SessionHolder, UpstreamSession } from '../upstream/session/acquire-session.ts';
import type { RawAnswer } from '../upstream/protocol/server-request.ts';
import type { SessionSubscription } from '../upstream/session/session-subscriptions.ts';
import type { ObjectCall } from '../upstream/upstream-client.ts';
import type { Audience, ChangeEvent, Subscription, WatchFailure } from '../shared/events.ts';
import type { AnswerByKey } from './handed-over-calls.ts';
import type { CallTerms } from './object-calls.ts';

/** A session to end at its server. */
export interface EndedSession {
  serverId: string;
  session: UpstreamSession;
}

/**
 * Whether a session's subscription was stored: as a new one, or as one that it held, if that was made elsewhere not yet; false where it has
 * too many.
 */
export type Stored = 'new' | 'held' | 'elsewhere' | false;

export interface ClientObject extends SessionHolder {
  /** Opens a WebSocket for one of the paths that `ClientSession.fetch` names. */
  fetch(url: string, init: { headers: Record<string, string> }): Promise<Response>;
  /** Forgets a session that the upstream no longer knows. */
  forget(serverId: string, sessionId: string): Promise<void>;
  /** Subscribes an object to a resource in this client's session at the server. @returns the failure, if the server refuses */
  subscribeInSession(wanted: SessionSubscription): Promise<WatchFailure | undefined>;
  setLogLevel(level: LogLevel): Promise<void>;
  /** Makes a call that an object must make; its messages are lines. */
  startCall(call: ObjectCall, terms: CallTerms): Promise<ReadableStream<Uint8Array>>;
  /** Takes over another's call whose server sent a server request; messages are lines in both directions. */
  adoptCall(
    lines: ReadableStream<Uint8Array>,
    answer: AnswerByKey,
    terms: CallTerms,
  ): Promise<ReadableStream<Uint8Array>>;
  /** Resumes a suspended call. */
  resumeCall(
    callId: string,
    answers: [key: string, answer: RawAnswer][],
  ): Promise<ReadableStream<Uint8Array>>;
  /** Passes on the answer to a server request of a call that keeps running. */
  answerCall(callId: string, key: string, answer: RawAnswer): Promise<void>;
  cancelCall(key: string): Promise<void>;
  /** @returns false where no Worker holds the client's stream */
  relay(text: string, authorization: string): Promise<boolean>;
  subscribe(owner: string, audience: Audience, wanted: Subscription): Promise<Stored>;
  /** @param isMoved it is made where `unwanted` says, and only its former place is to end it */
  unsubscribe(owner: string, unwanted: Subscription, isMoved?: boolean): Promise<void>;
  /** @returns false where no stream here wants to know any more */
  announce(owner: string, change: ChangeEvent): Promise<boolean>;
  /** @returns false where no call waits for this answer */
  passAnswer(id: RequestId, answer: RawAnswer): Promise<boolean>;
  /** Forgets everything. @returns the sessions to end at the upstreams */
  end(): Promise<EndedSession[]>;
}

/** The part of a monitor's object that streams call. */
export interface ResourceMonitor {
  /** Subscribes an object to a resource at the server. @returns the failure, if the server refuses */
  subscribe(owner: string, uri: string): Promise<WatchFailure | undefined>;
}
