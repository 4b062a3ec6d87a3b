/**
 * Log levels on sessions of legacy servers: set before a call that wants another level than the session has, once per change. Remembered
 * per session and connection; a level that another isolate set is set again, which does no harm. A server that refuses a level is not asked
 * for it again.
 */
import { Lru } from '../../shared/util/lru.ts';
import type { LogLevel } from '../../shared/protocol.ts';
import type { Channel } from './channel.ts';
import { createDeadline } from '../../http/deadline.ts';
import { SessionForgotten } from '../exchange.ts';

const SET_MS = 5_000;
const MAX_SESSIONS = 20_000;

export class LogLevels {
  readonly #ofSession = new Lru<string, LogLevel>(MAX_SESSIONS);
  readonly #ofConnection = new WeakMap<Channel, LogLevel>();

  /** @throws SessionForgotten */
  async inSession(session: string, channel: () => Channel, level?: LogLevel): Promise<void> {
    if (level === undefined || this.#ofSession.get(session) === level) return;
    await setLevel(channel(), level);
    this.#ofSession.set(session, level);
  }

  /** The same on a live HTTP+SSE connection. */
  async onConnection(connection: Channel, level?: LogLevel): Promise<void> {
    if (level === undefined || this.#ofConnection.get(connection) === level) return;
    await setLevel(connection, level);
    this.#ofConnection.set(connection, level);
  }
}

/** Sets the level from which on a session logs. @throws SessionForgotten */
export async function setLevel(channel: Channel, level: LogLevel): Promise<void> {
  const deadline = createDeadline(SET_MS);
  const params = new Map([['level', JSON.stringify(level)]]);
  try {
    await channel.request('logging/setLevel', params, deadline);
  } catch (error) {
    // The call that follows will show whether the server is well.
    if (error instanceof SessionForgotten) throw error;
  } finally {
    deadline.release();
  }
}
