/**
 * Gives start turns to many programs that start together. Each start needs a whole processor, and one processor is left to the gateway. A
 * start that waits for something else, such as a download, leaves processors idle: then more turns are given. A slow program loses its
 * turn, so that a hanging one delays others only briefly.
 */
import { availableParallelism, cpus } from 'node:os';

/** A start that takes longer no longer counts, in milliseconds. */
const TURN_MS = 3_000;
/** How often idle processors are checked while a start waits, in milliseconds. */
const LOOK_MS = 250;
/** Most starts at once per processor. */
const MOST_EACH = 2;

export interface StartQueueOptions {
  processors?: number;
  /** Whether most processor time was idle since the last call. */
  areIdle?: () => boolean;
}

export class StartQueue {
  readonly #waiting: (() => void)[] = [];
  readonly #areIdle: () => boolean;
  /** Turns that are left; below zero where extra turns were given. */
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

  /** Waits for a turn, which ends when the returned function is called, or after `TURN_MS`. An aborted start gets its turn at once. */
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

  /** Waits in the queue; an abort ends the wait. */
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
    // This turn counts like any other: its end makes room for one more.
    this.#free -= 1;
    resolve();
  }

  /** Gives an extra turn whenever the processors are idle and a start waits. */
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

/**
 * Returns a function that tells whether more than half of all processor time since its last call was idle; its first call returns false.
 */
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
