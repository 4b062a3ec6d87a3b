/**
 * Keeps one server running: starts it, finds its era, and restarts it after it has ended. Each run that becomes ready gets its own adapter
 * (`open`), so that no session and no call outlives a run.
 *
 * Invariants: one child at a time; a restart waits until the former run is gone; pauses double up to a bound, which is lower after a run
 * that had been ready; `stop` is final. Subscribers get the states in order.
 */
import type { Era } from '../../../src/shared/protocol.ts';
import type { ClientFeature } from '../../../src/shared/client-capabilities.ts';
import { Child, type ChildSpec } from './child.ts';
import type { ChildMessage } from './child-message.ts';
import { Handshake, HandshakeFailed, type NegotiatedProtocol } from './handshake.ts';
import { backoffMs, type Limits } from './limits.ts';
import { toSaid } from './error-text.ts';
import type { StartQueue } from './start-queue.ts';

/** `starting` may also be the short pause before the first restart. */
export interface ServerState {
  state: 'starting' | 'ready' | 'failed' | 'stopped';
  /** Why the last run ended, if one did. */
  reason?: string;
  /** Era of a ready server. */
  era?: Era;
  pid?: number;
  /** Consecutive runs that ended before they had been healthy for a while. */
  failures: number;
}

/** Answers requests with one run of the child. */
export interface RunAdapter {
  take(message: ChildMessage): void | Promise<void>;
  /** The run is over; requests in flight are answered with `reason`. */
  close(reason: string): void;
  /** A client waits for an answer. */
  readonly isBusy: boolean;
}

export interface KeptChildOptions<F> {
  spec: ChildSpec;
  limits: Limits;
  /** The client capabilities that a legacy child is told. */
  features: readonly ClientFeature[];
  /** Its era, if known; a legacy child is then not probed. */
  era?: Era;
  open(child: Child, protocol: NegotiatedProtocol): F;
  /** Shared with other children; without it each starts at once. */
  starts?: StartQueue | undefined;
  /** Uniform in [0, 1). */
  random?: () => number;
}

/** How often a run that is to be restarted is checked for waiting clients, in milliseconds. */
const QUIET_MS = 250;
/** Up to this many consecutive failures of a run that was ready, the pause still counts as starting. */
const SHORT_FAILURES = 1;

export class KeptChild<F extends RunAdapter> {
  readonly #options: KeptChildOptions<F>;
  readonly #listeners = new Set<(state: ServerState) => void>();
  readonly #stopping = new AbortController();
  readonly #kept: Promise<void>;
  #state: ServerState = { state: 'starting', failures: 0 };
  #child: Child | undefined;
  #adapter: F | undefined;
  #said = '';
  /** The server's era in its last run; the next one should have the same, since clients rely on it. */
  #era: Era | undefined;

  constructor(options: KeptChildOptions<F>) {
    this.#options = options;
    this.#era = options.era;
    this.#kept = this.#keep();
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The adapter of the run, if one is ready. */
  get running(): F | undefined {
    return this.#adapter;
  }

  /** Lines of the last run that were not messages. */
  get garbageLines(): number {
    return this.#child?.garbageLines ?? 0;
  }

  /** Why the server cannot answer, with its last error output, also during a restart; for people. */
  get trouble(): string {
    const { state, reason } = this.#state;
    if (state === 'starting' && reason === undefined) return 'The server is still starting';
    const said = this.#said === '' ? '' : `; it said: ${this.#said}`;
    return `The server ${reason ?? 'is not running'}${said}`;
  }

  /** Calls the listener with every state from now on; the returned function unsubscribes. */
  subscribe(listener: (state: ServerState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Returns the adapter of the run; waits for it while the server is starting. @returns undefined where there is none */
  async adapter(signal: AbortSignal): Promise<F | undefined> {
    if (this.#state.state !== 'starting') return this.#adapter;
    if (this.#listeners.size >= this.#options.limits.waiting) return undefined;
    await new Promise<void>(resolve => {
      const timer = setTimeout(done, this.#options.limits.waitMs);
      const unsubscribe = this.subscribe(({ state }) => state !== 'starting' && done());
      signal.addEventListener('abort', done, { once: true });
      function done() {
        clearTimeout(timer);
        unsubscribe();
        signal.removeEventListener('abort', done);
        resolve();
      }
    });
    return this.#adapter;
  }

  /** Stops the server for good. Settles when all its processes are gone. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#child?.stop('was stopped');
    await this.#kept;
  }

  /** Kills at once, for a process that is about to exit itself. */
  kill(): void {
    this.#stopping.abort();
    this.#child?.kill();
  }

  async #keep(): Promise<void> {
    const { limits, random = Math.random } = this.#options;
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      this.#tell({ ...this.#lastReason(), state: 'starting', failures });
      const started = await this.#options.starts?.begin(signal);
      if (signal.aborted) {
        started?.();
        break;
      }
      const { reason, readyMs } = await this.#run(this.#era !== 'legacy', started);
      if (signal.aborted) break;
      failures = readyMs >= limits.healthyMs ? 1 : failures + 1;
      const isShort = readyMs > 0 && failures <= SHORT_FAILURES;
      this.#tell({ state: isShort ? 'starting' : 'failed', reason, failures });
      await pause(backoffMs(failures, readyMs > 0, limits, random()), signal);
    }
    this.#tell({ state: 'stopped', reason: 'was stopped', failures });
  }

  #lastReason(): { reason?: string } {
    return this.#state.reason === undefined ? {} : { reason: this.#state.reason };
  }

  /**
   * Performs one run to its end. A child that died of the probe is started again without it, in the same turn.
   * @param started ends the start turn
   */
  async #run(
    probes: boolean,
    started: () => void = () => {},
  ): Promise<{ reason: string; readyMs: number }> {
    const { spec, limits, open, features } = this.#options;
    let receive: (message: ChildMessage) => void | Promise<void> = () => {};
    let child: Child;
    try {
      child = new Child(spec, limits, message => receive(message));
    } catch (error) {
      started();
      // Invalid arguments, for example with a zero byte.
      return { reason: `cannot be started: ${(error as Error).message}`, readyMs: 0 };
    }
    this.#child = child;
    if (this.#stopping.signal.aborted) void child.stop('was stopped');
    const handshake = new Handshake(child, limits, features);
    receive = message => handshake.take(message);
    let protocol: NegotiatedProtocol | undefined;
    try {
      const probeMs = this.#era === 'modern' ? limits.handshakeMs : limits.probeMs;
      protocol = await handshake.run(probes ? probeMs : undefined);
    } catch (error) {
      if (!(error instanceof HandshakeFailed)) throw error;
      this.#era = this.#options.era;
      await child.stop(error.message);
    }
    if (!protocol) {
      const reason = await child.over;
      await child.ended;
      this.#said = toSaid(child.stderrTail());
      const diedOfProbe = probes && handshake.isProbing && child.pid !== undefined;
      if (diedOfProbe && !this.#stopping.signal.aborted) return this.#run(false, started);
      started();
      return { reason, readyMs: 0 };
    }
    started();
    const since = Date.now();
    this.#era = protocol.era;
    const adapter = open(child, protocol);
    receive = message => {
      handshake.take(message, true);
      return adapter.take(message);
    };
    this.#adapter = adapter;
    if (protocol.era === 'legacy') void this.#hearLate(handshake, child, adapter);
    this.#tell({
      state: 'ready',
      era: protocol.era,
      failures: this.#state.failures,
      ...(child.pid === undefined ? {} : { pid: child.pid }),
    });
    const reason = await child.over;
    const readyMs = Math.max(1, Date.now() - since);
    this.#adapter = undefined;
    this.#said = toSaid(child.stderrTail());
    this.#tell({ state: 'starting', reason, failures: this.#state.failures });
    adapter.close(reason);
    await child.ended;
    return { reason, readyMs };
  }

  /** A child that answered the modern probe too late is restarted as modern, once no client waits for it. */
  async #hearLate(handshake: Handshake, child: Child, adapter: F): Promise<void> {
    if (!(await handshake.late)) return;
    const { signal } = this.#stopping;
    while (this.#adapter === adapter && adapter.isBusy) await pause(QUIET_MS, signal);
    if (this.#adapter !== adapter || signal.aborted) return;
    this.#era = 'modern';
    await child.stop('is restarted: it answered the probe for the modern era too late');
  }

  #tell(state: ServerState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

/** Waits; ends early when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    if (signal.aborted) done();
  });
}
