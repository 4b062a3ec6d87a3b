/** Pings a peer at intervals, and reports when it no longer responds. */

/** Pings that may go unanswered. */
const MAX_MISSED = 2;

export interface KeepAlive {
  /** Call this for anything received from the peer. */
  heard(): void;
  stop(): void;
}

/**
 * @param ask sends a ping
 * @param dead called once, when two pings and one more interval passed without anything from the peer
 */
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
