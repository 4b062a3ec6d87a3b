/**
 * The circuit breaker of one server. Pure. Closed, it counts failures in a row, of calls and of checks; at the limit it opens and no
 * call is sent. When its time has come it is half-open: the monitor's own message is the trial, never a call. A good one closes it,
 * and so does a call that was sent before and is answered all the same. A bad one is followed by the next within a second, for as
 * long as somebody wants the server; the longer nobody does, the rarer they are.
 */

export interface Circuit {
  /** Failures in a row while closed. */
  failures: number;
  /** Since when it is open. */
  openedAt: number;
  /** When somebody last wanted the server: it opened, or a call was refused. */
  wantedAt: number;
  /** Time of the next trial; null while closed. */
  retryAt: number | null;
}

export type CircuitState = 'closed' | 'open' | 'half_open';

export const CLOSED: Circuit = { failures: 0, openedAt: 0, wantedAt: 0, retryAt: null };

/** A trial within this time is soon: nobody has to ask for it, in milliseconds. */
const SOON_MS = 1_000;
const MIN_RETRY_MS = 800;
const MAX_RETRY_MS = 300_000;
/** A trial waits this part of the time for which nobody wanted the server. */
const IDLE_PARTS = 120;

export function circuitStateOf(retryAt: number | null, now: number): CircuitState {
  if (retryAt === null) return 'closed';
  return now < retryAt ? 'open' : 'half_open';
}

/**
 * Time until the next trial, in milliseconds: less than a second while the server was wanted in the last minutes, then growing up
 * to five minutes, with up to half taken off.
 * @param idleMs for how long nobody wanted the server
 * @param random uniform in [0, 1)
 */
export function retryDelayMs(idleMs: number, random: number): number {
  const ceiling = Math.min(Math.max(idleMs / IDLE_PARTS, MIN_RETRY_MS), MAX_RETRY_MS);
  return Math.round(ceiling * (0.5 + 0.5 * random));
}

/** Whether a trial comes so soon that its time need not be told. */
export function isSoon(retryAt: number, now: number): boolean {
  return retryAt - now <= SOON_MS;
}

/** The time that others are told of the next trial: trials that come soon are not told of one by one. */
export function shownRetryAt(shown: number | null, retryAt: number | null, now: number) {
  if (shown === null || retryAt === null) return retryAt;
  return isSoon(shown, now) && isSoon(retryAt, now) ? shown : retryAt;
}

/** The circuit when somebody wants the server: an open one is tried soon. */
export function wantTrial(circuit: Circuit, now: number, random: number): Circuit {
  if (circuit.retryAt === null) return circuit;
  const retryAt = Math.min(circuit.retryAt, now + retryDelayMs(0, random));
  return { ...circuit, wantedAt: now, retryAt };
}

/** Something happened at the server. */
export interface CircuitEvent {
  /** Failures in a row; none means that the server was heard. */
  failures: number;
  /** A message of the monitor's own: what an open circuit is tried with. */
  isTrial: boolean;
  /** When the server was heard, where that is known. */
  heardAt?: number | null;
}

/**
 * The circuit after an event. Of calls that end while it is open only a good answer that came after it opened counts.
 * @param limit failures in a row that open it
 * @param random uniform in [0, 1)
 */
export function decideCircuit(
  circuit: Circuit,
  { failures, isTrial, heardAt = null }: CircuitEvent,
  { limit, now, random }: { limit: number; now: number; random: number },
): Circuit {
  const { retryAt } = circuit;
  if (retryAt === null) {
    const inRow = failures === 0 ? 0 : circuit.failures + failures;
    if (inRow < limit) return { ...CLOSED, failures: inRow };
    const opened = { failures: inRow, openedAt: now, wantedAt: now };
    return { ...opened, retryAt: now + retryDelayMs(0, random) };
  }
  if (failures === 0) return isTrial || (heardAt ?? 0) > circuit.openedAt ? CLOSED : circuit;
  if (!isTrial || now < retryAt) return circuit;
  return { ...circuit, retryAt: now + retryDelayMs(now - circuit.wantedAt, random) };
}
