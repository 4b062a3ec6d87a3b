/** Tells a gateway on this machine to accept no new work, and waits for its running requests (`src/http/drain.ts`). */
import { DRAIN_HEADER, DRAIN_PATH } from '../src/http/drain.ts';

/** Time for the response besides the drain time, in milliseconds. */
const ANSWER_MS = 1_000;

/**
 * @returns a function that drains for so many milliseconds and returns how many requests still run; 0 if the gateway does not respond,
 * since then there is nothing to wait for
 */
export function createDraining(origin: string, key: string): (ms: number) => Promise<number> {
  return async ms => {
    try {
      const response = await fetch(`${origin}${DRAIN_PATH}?ms=${ms}`, {
        method: 'POST',
        headers: { [DRAIN_HEADER]: key },
        signal: AbortSignal.timeout(ms + ANSWER_MS),
      });
      const { under_way: left } = (await response.json()) as { under_way?: number };
      return left ?? 0;
    } catch {
      return 0;
    }
  };
}

/**
 * Lets the running requests of a gateway finish.
 * @param say called once if there is something to wait for
 */
export async function drain(
  host: { drain(ms: number): Promise<number> },
  ms: number,
  say: (text: string) => void,
): Promise<void> {
  // Needed even if no request is running: the gateway writes out what it holds in memory.
  const count = await host.drain(0);
  if (count === 0 || ms === 0) return;
  say(
    `waiting for ${count} running ${count === 1 ? 'request' : 'requests'}, ${ms / 1_000} s at most; the same signal again stops at once`,
  );
  await host.drain(ms);
}
