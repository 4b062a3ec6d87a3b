/** Every time and size limit on the children of `portico connect`, in one place. Times are milliseconds, sizes bytes. */

export interface Limits {
  /** How long a child may take for the modern probe, including its start, maybe by `npx`; one that is silent longer is legacy. */
  probeMs: number;
  /** How long a child may take for the whole handshake; `npx` may have to download first. */
  handshakeMs: number;
  /** How long a request waits for a starting child; shorter than the gateway waits for the request. */
  waitMs: number;
  /** From the end of its input to SIGTERM, for a child that is being stopped. */
  closeMs: number;
  /** From SIGTERM to SIGKILL, and for the remaining output of a child that has exited. */
  graceMs: number;
  /** First and longest pause before a restart; it doubles in between. */
  backoffMs: number;
  maxBackoffMs: number;
  /** The longest pause after a run that had been ready, since its clients wait for it. */
  maxReadyBackoffMs: number;
  /** After a child was ready this long, its earlier failures no longer count. */
  healthyMs: number;
  /** After this long silence on an event stream, a comment is sent. */
  keepAliveMs: number;
  /** How long an answer may stay unread while others wait for its room. */
  stallMs: number;
  /** How long a cancelled call may still send server requests: after the child has seen the cancellation, and at most. */
  cancelledMs: number;
  maxCancelledMs: number;
  /** Sessions end after being idle this long. */
  idleMs: number;
  /** How long a legacy client's `initialize` waits for the program to start in its era; shorter than the gateway waits for a handshake. */
  sideMs: number;
  /** Most extra processes for clients that lack a requested capability; an idle one ends after `kindIdleMs`. */
  kinds: number;
  kindIdleMs: number;
  /** Longest line of output. */
  lineBytes: number;
  /** Most bytes within `garbageMs` that are not messages. */
  garbageBytes: number;
  garbageMs: number;
  /** Most bytes waiting for a child to read them. */
  inputBytes: number;
  /** Most bytes of a server's answers that wait for their readers; beyond it the child's output is not read. */
  answerBytes: number;
  /** Most bytes of notifications waiting on one stream. */
  streamBytes: number;
  /** Largest body of a request. */
  bodyBytes: number;
  stderrChars: number;
  sessions: number;
  calls: number;
  /** Requests waiting for a child to start. */
  waiting: number;
  /** Server requests of a child that wait for their responses. */
  questions: number;
  /** Most resource subscriptions of one session. */
  uris: number;
}

const MIB = 1_048_576;

export const LIMITS: Readonly<Limits> = {
  probeMs: 10_000,
  handshakeMs: 60_000,
  waitMs: 15_000,
  closeMs: 500,
  graceMs: 3_000,
  backoffMs: 500,
  maxBackoffMs: 30_000,
  maxReadyBackoffMs: 5_000,
  healthyMs: 60_000,
  keepAliveMs: 15_000,
  stallMs: 30_000,
  cancelledMs: 2_000,
  maxCancelledMs: 60_000,
  idleMs: 3_600_000,
  sideMs: 8_000,
  kinds: 3,
  kindIdleMs: 600_000,
  lineBytes: 16 * MIB,
  garbageBytes: MIB,
  garbageMs: 10_000,
  inputBytes: 32 * MIB,
  answerBytes: 64 * MIB,
  streamBytes: MIB,
  bodyBytes: 16 * MIB,
  stderrChars: 16_384,
  sessions: 1_000,
  calls: 10_000,
  waiting: 1_000,
  questions: 1_000,
  uris: 1_000,
};

/**
 * Returns how long to wait before a restart.
 * @param failures consecutive, at least 1
 * @param wasReady the run that ended had been ready
 * @param random uniform in [0, 1)
 */
export function backoffMs(
  failures: number,
  wasReady: boolean,
  limits: Pick<Limits, 'backoffMs' | 'maxBackoffMs' | 'maxReadyBackoffMs'>,
  random: number,
): number {
  const most = wasReady ? limits.maxReadyBackoffMs : limits.maxBackoffMs;
  const full = Math.min(most, limits.backoffMs * 2 ** (failures - 1));
  return full * (0.5 + random / 2);
}
