/** Asks a gateway on this machine to begin nothing more, and waits for what is under way there (`src/http/drain.ts`). */
import { DRAIN_HEADER, DRAIN_PATH } from '../src/http/drain.ts';

/** How long the gateway may take to answer beside what it waits. */
const ANSWER_MS = 1_000;

/** @returns how many requests are under way after so many milliseconds; none where nobody answers: then nothing is there to wait for */
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
 * Lets what is under way at a gateway end.
 * @param say told once where there is something to wait for
 */
export async function drain(
  host: { drain(ms: number): Promise<number> },
  ms: number,
  say: (text: string) => void,
): Promise<void> {
  // Also where nothing is under way: what the gateway keeps in memory is brought out.
  const count = await host.drain(0);
  if (count === 0 || ms === 0) return;
  say(
    `waiting for ${count} ${count === 1 ? 'request' : 'requests'} under way, ${ms / 1_000} s at most; the same signal again ends now`,
  );
  await host.drain(ms);
}
