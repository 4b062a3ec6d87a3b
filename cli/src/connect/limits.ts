/** How long and how much: every bound on the children of `portico connect`, in one place. Times are milliseconds, sizes bytes. */

export interface Limits {
  /** How long a child may take for the modern probe, which it has to start for, maybe by `npx`; one that is silent longer is legacy. */
  probeMs: number;
  /** How long a child may take for the whole handshake; `npx` may have to download first. */
  handshakeMs: number;
  /** How long a request waits for a child that is starting; less than the gateway waits for it. */
  waitMs: number;
  /** From the end of its input to SIGTERM, for a child that is told to stop. */
  closeMs: number;
  /** From SIGTERM to SIGKILL, and for the rest of the output of a child that has exited. */
  graceMs: number;
  /** First pause before a restart, and the longest; it doubles in between. */
  backoffMs: number;
  maxBackoffMs: number;
  /** The longest pause after a run that had got ready: who it serves waits for it. */
  maxReadyBackoffMs: number;
  /** A child that was ready this long starts again without a history. */
  healthyMs: number;
  /** Silence on an event stream after which a comment is sent. */
  keepAliveMs: number;
  /** How long an answer may lie unread while others wait for its room. */
  stallMs: number;
  /** How long a cancelled call still counts as one that may ask: after the child has seen that it is, and at most. */
  cancelledMs: number;
  maxCancelledMs: number;
  /** Idle sessions end after this. */
  idleMs: number;
  /** How long a legacy client's first call waits for the program to start in its era; less than the gateway waits for a handshake. */
  sideMs: number;
  /** Processes for clients that lack what the program asks for; one that is idle ends after `kindIdleMs`. */
  kinds: number;
  kindIdleMs: number;
  /** Longest line of a child. */
  lineBytes: number;
  /** Most bytes of other things than messages within `garbageMs`. */
  garbageBytes: number;
  garbageMs: number;
  /** Most bytes that wait for a child to read them. */
  inputBytes: number;
  /** Most bytes of all answers of a server that wait for their readers; the child waits when it is reached. */
  answerBytes: number;
  /** Most bytes of notifications that wait on one stream. */
  streamBytes: number;
  /** Largest body of a request. */
  bodyBytes: number;
  stderrChars: number;
  sessions: number;
  calls: number;
  /** Requests that wait for a child to start. */
  waiting: number;
  /** Questions of a child that wait for their answers. */
  questions: number;
  /** Resources that one session may be subscribed to. */
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
 * How long to wait before a restart.
 * @param failures one after the other, at least 1
 * @param wasReady the run that ended had got ready
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
