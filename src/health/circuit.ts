/**
 * The circuit breaker of one server. Pure. Closed, it counts failures in a row, of calls and of checks; at the limit it opens and no
 * call is sent. When its time has come it is half-open: the monitor's own message is the trial, never a call. A good one closes it,
 * a bad one opens it for twice as long.
 */

export interface Circuit {
  /** Failures in a row while closed. */
  failures: number;
  /** How often it opened since it was closed. */
  opens: number;
  /** Time of the next trial; null while closed. */
  retryAt: number | null;
}

export type CircuitState = 'closed' | 'open' | 'half_open';

export const CLOSED: Circuit = { failures: 0, opens: 0, retryAt: null };

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

export function circuitStateOf(retryAt: number | null, now: number): CircuitState {
  if (retryAt === null) return 'closed';
  return now < retryAt ? 'open' : 'half_open';
}

/**
 * Time until the next trial, in milliseconds: doubling from a second up to a minute, with up to half taken off.
 * @param random uniform in [0, 1)
 */
export function retryDelayMs(opens: number, random: number): number {
  const ceiling = Math.min(FIRST_RETRY_MS * 2 ** Math.min(opens - 1, 20), MAX_RETRY_MS);
  return Math.round(ceiling * (0.5 + 0.5 * random));
}

/** Something happened at the server. */
export interface CircuitEvent {
  /** Failures in a row; none means that the server was heard. */
  failures: number;
  /** A message of the monitor's own: what an open circuit is tried with. */
  isTrial: boolean;
}

/**
 * The circuit after an event. Calls that end while it is open were sent before, and change nothing.
 * @param limit failures in a row that open it
 * @param random uniform in [0, 1)
 */
export function decideCircuit(
  circuit: Circuit,
  { failures, isTrial }: CircuitEvent,
  { limit, now, random }: { limit: number; now: number; random: number },
): Circuit {
  const { retryAt } = circuit;
  if (retryAt === null) {
    const inRow = failures === 0 ? 0 : circuit.failures + failures;
    if (inRow < limit) return { ...CLOSED, failures: inRow };
    return { failures: inRow, opens: 1, retryAt: now + retryDelayMs(1, random) };
  }
  if (!isTrial) return circuit;
  if (failures === 0) return CLOSED;
  if (now < retryAt) return circuit;
  const opens = circuit.opens + 1;
  return { ...circuit, opens, retryAt: now + retryDelayMs(opens, random) };
}
