/**
 * What a server sends on the streams of one client's session that belongs to no call: changes of a resource or a list, and log messages.
 * Decides what each is for; the object passes it on.
 */
import { parseUpdated, UPDATED } from '../../shared/json/updated.ts';
import { noteRedacted } from '../protocol/message.ts';

/** A notification as the server wrote it. */
export interface SessionNotification {
  method: string;
  text: string;
}

/** The server of a session, as far as its messages need it. */
export interface SessionServer {
  serverId: string;
  /** Texts that its messages must not repeat to a client. */
  hidden: readonly string[];
}

export interface SessionEventsPorts {
  /** Called if a resource changed; `params` is raw JSON. */
  onUpdated(serverId: string, uri: string, params: string): void;
  /** Called if one of the server's lists changed. */
  onListChanged(serverId: string): void;
  /** Called for a log message. @returns whether something other than the running calls takes it */
  onLog(serverId: string, text: string): boolean;
}

export const LIST_CHANGED = /^notifications\/(?:tools|resources|prompts)\/list_changed$/;
const LOG = 'notifications/message';
/** Longest message that is passed on outside of a call, in characters. */
const MAX_CHARS = 1_048_576;

/** @returns whether the notification was taken; one that was not may belong to a call */
export function takeEvent(
  { method, text }: SessionNotification,
  by: SessionServer,
  ports: SessionEventsPorts,
): boolean {
  const { serverId, hidden } = by;
  if (LIST_CHANGED.test(method)) {
    ports.onListChanged(serverId);
    return true;
  }
  if (method === UPDATED) {
    const change = text.length > MAX_CHARS ? undefined : parseUpdated(noteRedacted(text, hidden));
    if (change) ports.onUpdated(serverId, change.uri, change.params);
    return true;
  }
  if (method !== LOG || text.length > MAX_CHARS) return false;
  return ports.onLog(serverId, noteRedacted(text, hidden));
}
