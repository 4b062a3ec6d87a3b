/** What the Worker and an object say to each other about a stream. Types and their texts. Pure. */
import type { Audience, ListName, ListEvent, Seen, Subscription } from '../shared/events.ts';

/** The Worker's first message on a socket: what stream it wants. */
export interface StreamOpening {
  /** Name of the object. */
  owner: string;
  /** A legacy session's own stream, which is logged and resumes, or a modern listener. */
  kind: 'session' | 'listen';
  audience: Audience;
  lists: readonly ListName[];
  /** What these lists of the client are now. */
  seen: Seen;
  /** Of a listener; a session's own are kept beside its streams. */
  resources: readonly Subscription[];
  /** What the client got last, where it resumes. */
  lastEventId?: string;
}

/** What the Worker says when it was asked to look: what the client's lists are now. */
export interface StreamView {
  seen: Seen;
  /** Lists whose change the client may hear of whether they are others now or not. */
  told: readonly ListName[];
}

const LOOK = 'look ';

/** Text of the event by which the object asks the Worker to look at the client's lists, since this is said to have changed. */
export function recheckText(change: readonly ListEvent[]): string {
  return LOOK + JSON.stringify(change);
}

/** What is said to have changed, where a text asks to look. */
export function parseRecheck(text: string): ListEvent[] | undefined {
  return text.startsWith(LOOK) ? (JSON.parse(text.slice(LOOK.length)) as ListEvent[]) : undefined;
}

const LOG = 'log ';

/** Id of the event that is a log message: it names the server, and no place to resume from. */
export const logId = (serverId: string): string => LOG + serverId;

/** The server whose log message an event is, by its id. */
export function loggedBy(id: string): string | undefined {
  return id.startsWith(LOG) ? id.slice(LOG.length) : undefined;
}

/** An open stream as the object stores it. */
export interface OpenStream extends Omit<StreamOpening, 'lastEventId'> {
  id: string;
  /** Which of the sockets that came for this stream is the one. */
  connection: string;
  openedAt: number;
}

/** An event on its way to a client. */
export interface StreamEvent {
  id: string;
  text: string;
}
