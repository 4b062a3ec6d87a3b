/** One stdio server of this machine, as the command sees it: something that answers requests, tells how it is, and ends. */
import type { ServerConfig } from './config.ts';
import type { StartQueue } from './start-queue.ts';
import type { HttpAdapter } from './stdio-http.ts';

/** `failed`: it ended by itself or did not start, and is started again later. */
export type ServerState = 'starting' | 'ready' | 'failed' | 'stopped';

export interface ServerAdapter extends HttpAdapter {
  /** Ends the program and all it started; resolves when they are gone. */
  stop(): Promise<void>;
  /** The same, at once and without waiting. */
  kill(): void;
}

/**
 * @param onChange called with each new state, and with why, in words for people that hold no secret
 * @param starts of all servers of this machine
 * @param onEvent called when there is more to be found at the server than before
 */
export type CreateAdapter = (
  server: ServerConfig,
  onChange: (state: ServerState, reason?: string) => void,
  starts: StartQueue,
  onEvent: () => void,
) => ServerAdapter;
