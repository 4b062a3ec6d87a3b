/** What the Worker and an object say to each other about a stream. Types and their limits only. */
import type { Audience, ListName, Subscription } from './news.ts';

/** The Worker's first message on a socket: what stream it wants. */
export interface StreamOpening {
  /** Name of the object. */
  owner: string;
  /** A legacy session's own stream, which is logged and resumes, or a modern listener. */
  kind: 'session' | 'listen';
  audience: Audience;
  lists: readonly ListName[];
  /** Of a listener; a session's own are kept beside its streams. */
  resources: readonly Subscription[];
  /** What the client got last, where it resumes. */
  lastEventId?: string;
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
