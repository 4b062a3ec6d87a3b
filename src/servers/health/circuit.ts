/**
 * The circuit breaker of one server. Pure. While closed, it counts failures in a row, of calls and of checks; at the limit it opens, and no
 * call is sent. When its retry time comes it is half-open: the monitor sends a message of its own as the trial, never a call. A good trial
 * closes it, and so does a call that was sent earlier and got a good response after all. After a bad trial the next follows within a second
 * while callers want the server; the longer no caller wants it, the rarer the trials.
 */

export interface Circuit {
  /** Failures in a row while closed. */
  failures: number;
  /** When it opened. */
  openedAt: number;
  /** When the server was last wanted: the circuit opened, or a call was refused. */
  wantedAt: number;
  /** Time of the next trial; null while closed. */
  retryAt: number | null;
}

export type CircuitState = 'closed' | 'open' | 'half_open';

export const CLOSED: Circuit = { failures: 0, openedAt: 0, wantedAt: 0, retryAt: null };

/** A trial due within this time is soon and needs no wake by a caller, in milliseconds. */
const SOON_MS = 1_000;
const MIN_RETRY_MS = 800;
const MAX_RETRY_MS = 300_000;
/** A trial waits for this fraction (1/120) of the time for which no caller wanted the server. */
const IDLE_PARTS = 120;

export function circuitStateOf(retryAt: number | null, now: number): CircuitState {
  if (retryAt === null) return 'closed';
  return now < retryAt ? 'open' : 'half_open';
}

/**
 * Returns the time until the next trial, in milliseconds: less than a second while the server was wanted in the last two minutes, then
 * growing up to five minutes; jitter takes off up to half.
 * @param idleMs time for which no caller wanted the server
 * @param random uniform in [0, 1)
 */
export function retryDelayMs(idleMs: number, random: number): number {
  const ceiling = Math.min(Math.max(idleMs / IDLE_PARTS, MIN_RETRY_MS), MAX_RETRY_MS);
  return Math.round(ceiling * (0.5 + 0.5 * random));
}

/** Whether a trial comes so soon that its time need not be published. */
export function isSoon(retryAt: number, now: number): boolean {
  return retryAt - now <= SOON_MS;
}

/** The time of the next trial to publish: if both the published and the new time are soon, the published one stays. */
export function shownRetryAt(shown: number | null, retryAt: number | null, now: number) {
  if (shown === null || retryAt === null) return retryAt;
  return isSoon(shown, now) && isSoon(retryAt, now) ? shown : retryAt;
}

/** The circuit after a caller wants the server: an open one is tried soon. */
export function wantTrial(circuit: Circuit, now: number, random: number): Circuit {
  if (circuit.retryAt === null) return circuit;
  const retryAt = Math.min(circuit.retryAt, now + retryDelayMs(0, random));
  return { ...circuit, wantedAt: now, retryAt };
}

/** An observation about the server. */
export interface CircuitEvent {
  /** Failures in a row; 0 means that the server responded. */
  failures: number;
  /** The monitor sent the message itself, as it does to try an open circuit. */
  isTrial: boolean;
  /** When the server last gave a good response, if known. */
  lastGoodAt?: number | null;
}

/**
 * Returns the circuit after an event. Of calls that end while it is open, only a good response received after it opened counts.
 * @param limit failures in a row that open it
 * @param random uniform in [0, 1)
 */
export function decideCircuit(
  circuit: Circuit,
  { failures, isTrial, lastGoodAt = null }: CircuitEvent,
  { limit, now, random }: { limit: number; now: number; random: number },
): Circuit {
  const { retryAt } = circuit;
  if (retryAt === null) {
    const inRow = failures === 0 ? 0 : circuit.failures + failures;
    if (inRow < limit) return { ...CLOSED, failures: inRow };
    const opened = { failures: inRow, openedAt: now, wantedAt: now };
    return { ...opened, retryAt: now + retryDelayMs(0, random) };
  }
  if (failures === 0) return isTrial || (lastGoodAt ?? 0) > circuit.openedAt ? CLOSED : circuit;
  if (!isTrial || now < retryAt) return circuit;
  return { ...circuit, retryAt: now + retryDelayMs(now - circuit.wantedAt, random) };
}
