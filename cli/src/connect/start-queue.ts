/**
 * Whose turn it is to start, where many programs start at the same time. Each wants a whole processor while it starts, so one
 * processor is left to the gateway beside them. A start that waits for something else, such as a download, leaves the processors
 * idle: then more begin. A program that takes long gives up its turn, so that one which hangs holds up nobody for long.
 */
import { availableParallelism, cpus } from 'node:os';

/** A start that takes longer no longer counts, in milliseconds. */
const TURN_MS = 3_000;
/** How often it is looked at whether the processors are idle while somebody waits, in milliseconds. */
const LOOK_MS = 250;
/** Starts at once for each processor, at most. */
const MOST_EACH = 2;

export interface StartQueueOptions {
  processors?: number;
  /** Whether most of the processors had nothing to do since it was asked last. */
  areIdle?: () => boolean;
}

export class StartQueue {
  readonly #waiting: (() => void)[] = [];
  readonly #areIdle: () => boolean;
  /** Turns that are left; less than none where more than usual have one. */
  #free: number;
  readonly #least: number;
  #looking: NodeJS.Timeout | undefined;

  constructor({
    processors = availableParallelism(),
    areIdle = createIdleMeter(),
  }: StartQueueOptions = {}) {
    this.#free = Math.max(1, processors - 1);
    this.#least = this.#free - MOST_EACH * processors;
    this.#areIdle = areIdle;
  }

  /** Waits for a turn, which ends when the result is called, or after a while. One that is aborted gets its turn at once. */
  async begin(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return () => {};
    if (this.#free <= 0) await this.#wait(signal);
    else this.#free -= 1;
    let hasEnded = false;
    const end = () => {
      clearTimeout(timer);
      if (hasEnded) return;
      hasEnded = true;
      const next = this.#free < 0 ? undefined : this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
      this.#look();
    };
    const timer = setTimeout(end, TURN_MS);
    timer.unref();
    return end;
  }

  /** Whoever stops meanwhile has its turn handed on as soon as it comes. */
  #wait(signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve);
      this.#look();
      signal.addEventListener('abort', () => this.#leave(resolve), { once: true });
    });
  }

  #leave(resolve: () => void): void {
    const at = this.#waiting.indexOf(resolve);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    // It ends its turn like any other, which makes room for one more.
    this.#free -= 1;
    resolve();
  }

  /** Gives one more turn whenever the processors are idle, as long as somebody waits. */
  #look(): void {
    if (this.#waiting.length === 0) {
      clearInterval(this.#looking);
      this.#looking = undefined;
      return;
    }
    if (this.#looking) return;
    this.#areIdle();
    this.#looking = setInterval(() => {
      const [next] = this.#waiting;
      if (next && this.#areIdle() && this.#free > this.#least) this.#leave(next);
      this.#look();
    }, LOOK_MS);
    this.#looking.unref();
  }
}

/** Tells whether more than half of all processors' time was idle since it was asked before; not, where it was not. */
function createIdleMeter(): () => boolean {
  let before = { idle: 0, all: 0 };
  return () => {
    const times = cpus().map(cpu => cpu.times);
    const idle = times.reduce((sum, each) => sum + each.idle, 0);
    const all = times.reduce(
      (sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq,
      idle,
    );
    const isIdle = (idle - before.idle) * 2 > all - before.all && before.all > 0;
    before = { idle, all };
    return isIdle;
  };
}
