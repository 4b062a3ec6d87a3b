/**
 * A legacy program is told once which client capabilities it can use, but has many clients. One process serves them all as long as it sends
 * no server request in a call. Once it has, clients that lack the requested capability get a process of their kind, which is told what they
 * have: the program then treats them properly instead of failing with a request that nobody answers. Beside a modern process
 * (`legacy-side.ts`) the shared process was told its first client's capabilities, and every other kind of client gets its own process at
 * once.
 *
 * Invariants: a process of a kind is told only capabilities that its clients have; a client that lacks none of the requested capabilities
 * stays with the shared process; the number of kinds is bounded, and an idle one ends; a session belongs to one process.
 */
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { featuresOf, type ClientFeature } from '../../../src/shared/client-capabilities.ts';
import type { KeptChild, RunAdapter } from './kept-child.ts';
import type { Limits } from './limits.ts';

/** One process, as its sessions use it. */
export interface SessionAdapter extends RunAdapter {
  sessionIds(): string[];
  /** Capabilities that the client of a session declared; undefined where it has no such session. */
  capabilitiesOf(sessionId: string): JsonObject | undefined;
}

interface Kind<F extends SessionAdapter> {
  child: KeptChild<F>;
  usedAt: number;
}

export interface KindsOptions<F extends SessionAdapter> {
  /** The capabilities that the shared process was told. */
  told: readonly ClientFeature[];
  /** `told` is exactly one kind's capabilities, so each other kind gets its own process even before the program sends a server request. */
  isExact?: boolean;
  limits: Pick<Limits, 'kinds' | 'kindIdleMs' | 'sessions'>;
  /** Starts a process for clients with these capabilities. */
  start(features: readonly ClientFeature[]): KeptChild<F>;
}

/** Number of checks for idle kinds within one idle timeout. */
const SWEEPS = 4;

export class Kinds<F extends SessionAdapter> {
  readonly #options: KindsOptions<F>;
  readonly #asked = new Set<ClientFeature>();
  /** Kinds by their capabilities; the least recently used first. */
  readonly #kinds = new Map<string, Kind<F>>();
  /** Processes that are being stopped. */
  readonly #ending = new Set<KeptChild<F>>();
  /** Declared capabilities of sessions whose process ended. */
  readonly #gone = new Map<string, JsonObject>();
  #sweeper: ReturnType<typeof setInterval> | undefined;
  #isOver = false;

  constructor(options: KindsOptions<F>) {
    this.#options = options;
  }

  /** The program sent a server request for this capability during a call. */
  noteAsked(feature: ClientFeature): void {
    this.#asked.add(feature);
  }

  /** Whether a client waits for a process of a kind. */
  get isBusy(): boolean {
    return [...this.#kinds.values()].some(({ child }) => child.running?.isBusy === true);
  }

  /** The process of a kind that has this session, if any. */
  holding(sessionId: string): F | undefined {
    for (const { child } of this.#kinds.values()) {
      if (child.running?.capabilitiesOf(sessionId)) return child.running;
    }
    return undefined;
  }

  /** The process for a new session, if its kind already has one. */
  async opening(capabilities: JsonObject, signal: AbortSignal): Promise<F | undefined> {
    if (!this.#isApart(capabilities)) return undefined;
    return this.#kinds.get(this.#keyOf(capabilities))?.child.adapter(signal);
  }

  /** Declared capabilities of a session whose process ended. */
  goneCapabilitiesOf(sessionId: string): JsonObject | undefined {
    return this.#gone.get(sessionId);
  }

  /**
   * Called before a call in which the program may send server requests. If the client lacks a requested capability, starts a process of its
   * kind.
   * @returns whether the client has one
   */
  async provide(capabilities: JsonObject, signal: AbortSignal): Promise<boolean> {
    if (!this.#isApart(capabilities) || this.#isOver) return false;
    const key = this.#keyOf(capabilities);
    if (!this.#kinds.has(key) && !this.#makeRoom()) return false;
    const kind = this.#kinds.get(key) ?? {
      child: this.#options.start(this.#featuresOf(capabilities)),
      usedAt: Date.now(),
    };
    this.#kinds.set(key, kind);
    this.#sweeper ??= this.#sweepNowAndThen();
    if (!(await kind.child.adapter(signal))) return false;
    this.#touch(key, kind);
    return true;
  }

  /** A call reached the process of a kind. */
  used(adapter: F): void {
    const found = [...this.#kinds].find(([, { child }]) => child.running === adapter);
    if (found) this.#touch(...found);
  }

  /** Stops all processes; settles when they are gone. */
  async stop(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#sweeper);
    for (const { child } of this.#kinds.values()) this.#ending.add(child);
    this.#kinds.clear();
    await Promise.all([...this.#ending].map(child => child.stop()));
  }

  /** Kills at once, for a process that is about to exit itself. */
  kill(): void {
    this.#isOver = true;
    for (const { child } of this.#kinds.values()) child.kill();
    for (const child of this.#ending) child.kill();
  }

  #featuresOf(capabilities: JsonObject): ClientFeature[] {
    const { told, isExact = false } = this.#options;
    return featuresOf(capabilities).filter(feature => isExact || told.includes(feature));
  }

  #keyOf(capabilities: JsonObject): string {
    return this.#featuresOf(capabilities).join(' ');
  }

  #isApart(capabilities: JsonObject): boolean {
    const had = this.#featuresOf(capabilities);
    const { told, isExact = false } = this.#options;
    if (isExact) return had.length !== told.length || had.some(feature => !told.includes(feature));
    return [...this.#asked].some(feature => !had.includes(feature));
  }

  #touch(key: string, kind: Kind<F>): void {
    kind.usedAt = Date.now();
    // The sweeper may have ended it meanwhile.
    if (this.#kinds.delete(key)) this.#kinds.set(key, kind);
  }

  /** @returns false where there are too many kinds and all are busy */
  #makeRoom(): boolean {
    if (this.#kinds.size < this.#options.limits.kinds) return true;
    const idle = [...this.#kinds].find(([, { child }]) => child.running?.isBusy !== true);
    if (idle) this.#end(...idle);
    return idle !== undefined;
  }

  #sweepNowAndThen(): ReturnType<typeof setInterval> {
    const { kindIdleMs } = this.#options.limits;
    const sweep = () => {
      for (const [key, kind] of this.#kinds) {
        const isBusy = kind.child.running?.isBusy === true;
        if (!isBusy && Date.now() - kind.usedAt >= kindIdleMs) this.#end(key, kind);
      }
    };
    return setInterval(sweep, kindIdleMs / SWEEPS).unref();
  }

  #end(key: string, { child }: Kind<F>): void {
    this.#kinds.delete(key);
    const adapter = child.running;
    for (const id of adapter?.sessionIds() ?? []) {
      this.#gone.set(id, adapter?.capabilitiesOf(id) ?? {});
      const [oldest] = this.#gone.keys();
      if (this.#gone.size > this.#options.limits.sessions && oldest) this.#gone.delete(oldest);
    }
    this.#ending.add(child);
    void child.stop().finally(() => this.#ending.delete(child));
  }
}
