/** Asks a peer for a sign of life again and again, and says when it gives none. */

/** Questions that may go unanswered. */
const MAX_MISSED = 2;

export interface KeepAlive {
  /** Something came from the peer. */
  heard(): void;
  stop(): void;
}

/** @param dead called once, when the peer was silent after two questions for the whole time to the next */
export function startKeepAlive(everyMs: number, ask: () => void, dead: () => void): KeepAlive {
  let missed = 0;
  const timer = setInterval(() => {
    if (missed >= MAX_MISSED) {
      clearInterval(timer);
      return dead();
    }
    missed += 1;
    ask();
  }, everyMs);
  return { heard: () => void (missed = 0), stop: () => clearInterval(timer) };
}
