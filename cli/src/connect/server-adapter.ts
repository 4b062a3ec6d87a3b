/** A stdio server of this machine as the command uses it: it answers requests, reports its state, and can be stopped. */
import type { ServerConfig } from './config.ts';
import type { StartQueue } from './start-queue.ts';
import type { HttpAdapter } from './stdio-http.ts';

/** `failed`: it ended by itself or did not start, and is restarted later. */
export type ServerState = 'starting' | 'ready' | 'failed' | 'stopped';

export interface ServerAdapter extends HttpAdapter {
  /** Ends the program and everything it started; resolves when they are gone. */
  stop(): Promise<void>;
  /** Does the same at once, without waiting. */
  kill(): void;
}

/**
 * @param onChange called with each new state and its reason, in words without secrets
 * @param starts shared by all servers of this machine
 * @param onEvent called when a discovery would find more than before
 */
export type CreateAdapter = (
  server: ServerConfig,
  onChange: (state: ServerState, reason?: string) => void,
  starts: StartQueue,
  onEvent: () => void,
) => ServerAdapter;
