/**
 * The legacy era of a program that runs in the modern one: a second process for the sessions of legacy clients, in which the program can
 * send server requests and notifications as over stdio. It is started for the first such client and ends when idle. Programs seldom
 * announce that they speak both eras, so this start finds it out, once.
 *
 * Invariants: no process is started only to check; a request that cannot be served here is answered like that of a modern-only program,
 * before any process has seen it; a program that never became ready in the legacy era is not started in it again.
 */
import { type HttpAnswer, type HttpRequest, SESSION_HEADER } from './http-message.ts';
import { isObject } from '../../../src/shared/protocol.ts';
import { featuresOf, type ClientFeature } from '../../../src/shared/client-capabilities.ts';
import { plainAnswer } from './answer.ts';
import type { ChildMessage } from './child-message.ts';
import { NO_SESSION } from './legacy-adapter.ts';
import type { KeptChild, RunAdapter } from './kept-child.ts';
import type { Limits } from './limits.ts';

/** The program in the legacy era: the part of a `StdioServer` used here. */
export interface LegacyServer {
  readonly child: Pick<KeptChild<RunAdapter>, 'running' | 'adapter' | 'subscribe'>;
  readonly isBusy: boolean;
  readonly isSubscribed: boolean;
  hasSession(id: string): boolean;
  answer(request: HttpRequest, message: ChildMessage | undefined): Promise<HttpAnswer>;
  stop(): Promise<void>;
  kill(): void;
}

export interface LegacySideOptions {
  limits: Pick<Limits, 'kindIdleMs' | 'sideMs'>;
  /** Starts the program in the legacy era, for a client with these capabilities. */
  start(features: readonly ClientFeature[]): LegacyServer;
  /** The process is ready and no client waits for it: its lists can be discovered. */
  onReady(): void;
}

/** Status for a GET without a session: a session can be opened, but no process runs yet, so a discovery would find nothing. */
const ASLEEP = 428;
/** Number of checks for an idle process within one idle timeout. */
const SWEEPS = 4;
/** How often a process that became ready is checked for waiting clients, in milliseconds. */
const QUIET_MS = 250;
/** Methods of a discovery; they do not keep a process alive. */
const LOOKING = /^initialize$|^ping$|\/list$/;

interface Side {
  server: LegacyServer;
  startedAt: number;
  usedAt: number;
  /** Number of requests that wait for it to start. */
  waiting: number;
}

export class LegacySide {
  readonly #options: LegacySideOptions;
  /** Processes that are being stopped. */
  readonly #ending = new Set<LegacyServer>();
  #side: Side | undefined;
  #sweeper: ReturnType<typeof setInterval> | undefined;
  /** It became ready in the legacy era once. */
  #hasSpoken = false;
  /** It does not speak the legacy era, or was stopped. */
  #isOver = false;

  constructor(options: LegacySideOptions) {
    this.#options = options;
  }

  /** Whether a request belongs to a session of this process. */
  holds({ headers }: HttpRequest): boolean {
    return this.#side?.server.hasSession(headers[SESSION_HEADER] ?? '') === true;
  }

  /** @returns undefined where it is to be answered like a request to a modern-only program */
  async answer(
    request: HttpRequest,
    message: ChildMessage | undefined,
  ): Promise<HttpAnswer | undefined> {
    if (this.#isOver) return undefined;
    const isInSession = request.headers[SESSION_HEADER] !== undefined;
    if (request.method === 'GET' && !isInSession) {
      return plainAnswer(this.#side?.server.child.running ? 400 : ASLEEP, NO_SESSION);
    }
    if (message?.kind === 'request' && message.method === 'initialize') {
      const { capabilities } = message.params;
      await this.#wake(isObject(capabilities) ? featuresOf(capabilities) : [], request.signal);
    } else if (!isInSession) return undefined;
    const side = this.#side;
    if (!side?.server.child.running) return undefined;
    if (message?.kind === 'request' && !LOOKING.test(message.method)) side.usedAt = Date.now();
    return side.server.answer(request, message);
  }

  /** Stops it for good; settles when its process is gone. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#end();
    await Promise.all([...this.#ending].map(server => server.stop()));
  }

  /** Kills at once, for a process that is about to exit itself. */
  kill(): void {
    this.#isOver = true;
    this.#side?.server.kill();
    for (const server of this.#ending) server.kill();
  }

  /** Starts the process if needed and waits for it. Does not wait if it should have been ready long ago. */
  async #wake(features: readonly ClientFeature[], signal: AbortSignal): Promise<void> {
    this.#side ??= this.#start(features);
    const side = this.#side;
    const { child } = side.server;
    const left = side.startedAt + this.#options.limits.sideMs - Date.now();
    if (child.running || left <= 0) return;
    side.waiting += 1;
    await child.adapter(AbortSignal.any([signal, AbortSignal.timeout(left)]));
    side.waiting -= 1;
    side.usedAt = Date.now();
  }

  #start(features: readonly ClientFeature[]): Side {
    const now = Date.now();
    const server = this.#options.start(features);
    const side: Side = { server, startedAt: now, usedAt: now, waiting: 0 };
    server.child.subscribe(({ state }) => {
      if (state === 'starting') side.startedAt = Date.now();
      if (state === 'ready') {
        this.#hasSpoken = true;
        void this.#tellReady(side);
      }
      if (state !== 'failed' || this.#hasSpoken || this.#side !== side) return;
      this.#isOver = true;
      this.#end();
    });
    this.#sweeper ??= this.#sweepNowAndThen();
    return side;
  }

  async #tellReady(side: Side): Promise<void> {
    do await new Promise(resolve => setTimeout(resolve, QUIET_MS).unref());
    while (side.server.isBusy);
    if (this.#side === side && side.server.child.running) this.#options.onReady();
  }

  #sweepNowAndThen(): ReturnType<typeof setInterval> {
    const { kindIdleMs } = this.#options.limits;
    const sweep = () => {
      const side = this.#side;
      if (!side || Date.now() - side.usedAt < kindIdleMs) return;
      const isHeld = side.waiting > 0 || side.server.isBusy || side.server.isSubscribed;
      if (!isHeld) this.#end();
    };
    return setInterval(sweep, kindIdleMs / SWEEPS).unref();
  }

  #end(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    const server = this.#side?.server;
    this.#side = undefined;
    if (!server) return;
    this.#ending.add(server);
    void server.stop().finally(() => this.#ending.delete(server));
  }
}
