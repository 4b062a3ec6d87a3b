/** What the Worker and an object send each other about a stream: types and texts. Pure. */
import type { Audience, ListName, ListEvent, Seen, Subscription } from '../shared/events.ts';

/** The Worker's first message on a socket: which stream it wants. */
export interface StreamOpening {
  /** Name of the object. */
  owner: string;
  /** A legacy session's notification stream, which is logged and can be resumed, or a modern listener. */
  kind: 'session' | 'listen';
  audience: Audience;
  lists: readonly ListName[];
  /** Hashes of the client's lists as they are now. */
  seen: Seen;
  /** Subscriptions of a listener; those of a session are stored beside its streams. */
  resources: readonly Subscription[];
  /** Id of the last event that the client got, where it resumes. */
  lastEventId?: string;
}

/** What the Worker answers when asked to check: the client's lists as they are now. */
export interface StreamView {
  seen: Seen;
  /** Lists whose change the client may be notified of, even where its own lists are the same. */
  told: readonly ListName[];
}

const RECHECK = 'look ';

/** Text of the event by which the object asks the Worker to check the client's lists after this reported change. */
export function recheckText(change: readonly ListEvent[]): string {
  return RECHECK + JSON.stringify(change);
}

/** Returns the reported change, where a text asks for a check. */
export function parseRecheck(text: string): ListEvent[] | undefined {
  return text.startsWith(RECHECK)
    ? (JSON.parse(text.slice(RECHECK.length)) as ListEvent[])
    : undefined;
}

const LOG = 'log ';

/** Id of an event that is a log message: it names the server, and no place to resume from. */
export const logId = (serverId: string): string => LOG + serverId;

/** Returns the server of a log message, from the id of its event. */
export function loggedBy(id: string): string | undefined {
  return id.startsWith(LOG) ? id.slice(LOG.length) : undefined;
}

/** An open stream as the object stores it. */
export interface OpenStream extends Omit<StreamOpening, 'lastEventId'> {
  id: string;
  /** Which of the sockets opened for this stream is the current one. */
  connection: string;
  openedAt: number;
}

/** An event to be sent to a client. */
export interface StreamEvent {
  id: string;
  text: string;
}
