/**
 * Keeps one server running: starts it, finds its era, starts it again when it has ended. Each run that gets ready is given an adapter
 * of its own (`open`), so that nothing of a run, no session and no call, outlives it.
 *
 * Invariants: one child at a time; a restart waits for what is left of the run before it; pauses double up to a bound, a lower one
 * after a run that had got ready; `stop` is final. States are told to whoever subscribed, in order.
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
  /** Of a server that is ready. */
  era?: Era;
  pid?: number;
  /** Runs that ended one after the other before they had been healthy for a while. */
  failures: number;
}

/** What answers requests with one run of the child. */
export interface RunAdapter {
  take(message: ChildMessage): void | Promise<void>;
  /** The run is over; what is under way is answered with `reason`. */
  close(reason: string): void;
  /** Somebody waits for an answer. */
  readonly isBusy: boolean;
}

export interface KeptChildOptions<F> {
  spec: ChildSpec;
  limits: Limits;
  /** What a legacy child is told that its clients can be asked. */
  features: readonly ClientFeature[];
  /** What it is known to be, so that it is not probed. */
  era?: Era;
  open(child: Child, protocol: NegotiatedProtocol): F;
  /** Shared with other children; without it each starts when it likes. */
  starts?: StartQueue | undefined;
  /** Uniform in [0, 1). */
  random?: () => number;
}

/** How often a run that is to be started anew is asked whether somebody waits for it, in milliseconds. */
const QUIET_MS = 250;
/** Longest pause that still counts as starting, for a server that runs again at once. */
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
  /** What the server turned out to be: a run of another era would be a stranger to whoever knows it. */
  #era: Era | undefined;

  constructor(options: KeptChildOptions<F>) {
    this.#options = options;
    this.#era = options.era;
    this.#kept = this.#keep();
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The adapter of the run, where one is ready. */
  get running(): F | undefined {
    return this.#adapter;
  }

  /** Lines of the last run that were no messages. */
  get garbageLines(): number {
    return this.#child?.garbageLines ?? 0;
  }

  /** Why the server cannot answer, with what it said last, also while it is started anew; for people. */
  get trouble(): string {
    const { state, reason } = this.#state;
    if (state === 'starting' && reason === undefined) return 'The server is still starting';
    const said = this.#said === '' ? '' : `; it said: ${this.#said}`;
    return `The server ${reason ?? 'is not running'}${said}`;
  }

  /** Hears of every state from now on; the result ends that. */
  subscribe(listener: (state: ServerState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The adapter of the run, which is waited for while the server is starting. @returns undefined where there is none */
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

  /** Ends the server for good. Settles when nothing of it is left. */
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
   * One run, to its end; a child that died of the probe is started once more without it, in the same turn.
   * @param started ends the turn to start
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
      // What no program can be given: a zero byte in an argument, for one.
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

  /** A child that was slow to say that it is modern is started anew as that, once nobody waits for it. */
  async #hearLate(handshake: Handshake, child: Child, adapter: F): Promise<void> {
    if (!(await handshake.late)) return;
    const { signal } = this.#stopping;
    while (this.#adapter === adapter && adapter.isBusy) await pause(QUIET_MS, signal);
    if (this.#adapter !== adapter || signal.aborted) return;
    this.#era = 'modern';
    await child.stop('is started anew: it was slow to say that it speaks the modern era');
  }

  #tell(state: ServerState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

/** Waits, but not for one who is stopping. */
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
