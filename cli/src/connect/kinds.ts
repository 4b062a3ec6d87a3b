/**
 * A legacy program is told once what its client can be asked, and has many clients. One process serves them all as long as it asks
 * nothing in a call. Once it has, clients that lack what it asked for get a process of their kind, which is told what they have: the
 * program then does what it does for such a client, in place of failing with a question that nobody answers. Beside a modern process
 * (`legacy-side.ts`) the shared one was told of what its first client has, and every other kind of client gets its own at once.
 *
 * Invariants: a process of a kind is told of nothing that its clients lack; who lacks nothing of what was asked stays with the shared
 * process; the number of kinds is bounded, and one that nobody uses ends; a session belongs to one process.
 */
import type { JsonObject } from '../../../src/shared/protocol.ts';
import { featuresOf, type ClientFeature } from '../../../src/shared/client-capabilities.ts';
import type { KeptChild, RunAdapter } from './kept-child.ts';
import type { Limits } from './limits.ts';

/** One process as its sessions see it. */
export interface SessionAdapter extends RunAdapter {
  /** The sessions it has. */
  sessionIds(): string[];
  /** What the client of a session declared; undefined where it has no such session. */
  capabilitiesOf(sessionId: string): JsonObject | undefined;
}

interface Kind<F extends SessionAdapter> {
  child: KeptChild<F>;
  usedAt: number;
}

export interface KindsOptions<F extends SessionAdapter> {
  /** What the shared process was told of. */
  told: readonly ClientFeature[];
  /** That is all that one kind of client has, so each other kind has a process of its own, whatever the program asks. */
  isExact?: boolean;
  limits: Pick<Limits, 'kinds' | 'kindIdleMs' | 'sessions'>;
  /** Starts a process for clients with these features. */
  start(features: readonly ClientFeature[]): KeptChild<F>;
}

/** How often it is looked for kinds that nobody uses, within the time after which they end. */
const SWEEPS = 4;

export class Kinds<F extends SessionAdapter> {
  readonly #options: KindsOptions<F>;
  readonly #asked = new Set<ClientFeature>();
  /** By their features; the one used longest ago first. */
  readonly #kinds = new Map<string, Kind<F>>();
  /** Kinds that are on their way out. */
  readonly #ending = new Set<KeptChild<F>>();
  /** What clients declared in sessions that ended with their process. */
  readonly #gone = new Map<string, JsonObject>();
  #sweeper: ReturnType<typeof setInterval> | undefined;
  #isOver = false;

  constructor(options: KindsOptions<F>) {
    this.#options = options;
  }

  /** The program asked for a feature of its client in a call. */
  noteAsked(feature: ClientFeature): void {
    this.#asked.add(feature);
  }

  /** Whether somebody waits for one of a kind. */
  get isBusy(): boolean {
    return [...this.#kinds.values()].some(({ child }) => child.running?.isBusy === true);
  }

  /** The process that a session was opened at, where it is one of a kind. */
  holding(sessionId: string): F | undefined {
    for (const { child } of this.#kinds.values()) {
      if (child.running?.capabilitiesOf(sessionId)) return child.running;
    }
    return undefined;
  }

  /** The process for a session that is being opened, where one of its kind is there already. */
  async opening(capabilities: JsonObject, signal: AbortSignal): Promise<F | undefined> {
    if (!this.#isApart(capabilities)) return undefined;
    return this.#kinds.get(this.#keyOf(capabilities))?.child.adapter(signal);
  }

  /** What the client of a session declared whose process has ended. */
  goneCapabilitiesOf(sessionId: string): JsonObject | undefined {
    return this.#gone.get(sessionId);
  }

  /**
   * A client is about to make a call in which the program may ask. Where it lacks what the program asks for, a process of its kind is
   * started.
   * @returns whether there is one for it
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

  /** A call came to a process of a kind. */
  used(adapter: F): void {
    const found = [...this.#kinds].find(([, { child }]) => child.running === adapter);
    if (found) this.#touch(...found);
  }

  /** Ends them all; settles when nothing of them is left. */
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

  /** @returns false where there are too many kinds, and all of them busy */
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
