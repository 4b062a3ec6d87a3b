/**
 * Connects a call with the health of its server: refuses it before it is sent if the circuit is open, and reports its end, answered or with
 * which error. The isolate counts calls in memory and reports to each server's monitor now and then: a failure soon, at once if a server
 * fails several times in a row or answers after that. It also reports refused calls if no trial is due soon. No call waits for any of it.
 * If the isolate is lost, the good calls since its last report are lost with it.
 */
import { type CallReport, CallTally, type Outcome } from '../../servers/health/call-report.ts';
import { isSoon } from '../../servers/health/circuit.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { type ErrorCode, errorEntry } from '../../shared/errors/table.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { CallMessages } from '../../upstream/protocol/call.ts';
import type { SendStep } from './send.ts';

/** A call makes the monitor try the server within a second. */
const RETRY_AFTER_SECONDS = 1;

/** @param reports gets refused calls, since a server that is called is tried sooner */
export function refuseOpenCircuit(reports: Pick<CallReports, 'refuse'>): SendStep {
  return next => (server, request, name, context) => {
    const refusal = circuitRefusal(server);
    if (!refusal) return next(server, request, name, context);
    reports.refuse(server, context.waitUntil);
    return Promise.reject(refusal);
  };
}

/** Returns why a call to a server is refused, in the registry's words; undefined if the circuit is closed. */
export function circuitRefusal({ circuitRetryAt, lastError }: Server): PorticoError | undefined {
  if (circuitRetryAt === null) return undefined;
  const { title } = errorEntry('circuit_open');
  const why = lastError === null ? title : `${title}. It failed with ${lastError}`;
  return new PorticoError('circuit_open', why, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Called once with how a call ended: answered, or with which error; not called if the client left. */
type OnEnd = (code?: ErrorCode) => void;

const codeOf = (thrown: unknown): ErrorCode =>
  thrown instanceof PorticoError ? thrown.code : 'internal';

export function reportOutcome(reports: Pick<CallReports, 'add'>): SendStep {
  return next => (server, request, name, context) => {
    const startedAt = performance.now();
    const onEnd: OnEnd = code => {
      if (context.signal.aborted) return;
      reports.add(server, code, performance.now() - startedAt, context.waitUntil);
    };
    return next(server, request, name, context).then(
      reply => {
        if ('messages' in reply) return { messages: watched(reply.messages, onEnd) };
        onEnd();
        return reply;
      },
      (thrown: unknown) => {
        onEnd(codeOf(thrown));
        throw thrown;
      },
    );
  };
}

async function* watched(messages: CallMessages, onEnd: OnEnd): CallMessages {
  let isWaitingForClient = false;
  try {
    for await (const message of messages) {
      isWaitingForClient = message.kind === 'question';
      if (message.kind === 'response') onEnd();
      yield message;
    }
  } catch (thrown) {
    // A timeout while the client was asked is not the server's failure.
    onEnd(isWaitingForClient ? 'internal' : codeOf(thrown));
    throw thrown;
  }
}

export interface CallReportsOptions {
  /** Time between two reports of good calls, in milliseconds. */
  intervalMs: number;
  send(serverId: string, report: CallReport): Promise<unknown>;
  /** Asks the monitor to try a server with an open circuit soon. */
  want(serverId: string, generation: number): Promise<unknown>;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

interface Account {
  tally: CallTally;
  /** Failures in a row, reported or not. */
  failuresInRow: number;
  /** When the scheduled report is due; not finite if none is scheduled. */
  reportAt: number;
  reportedAt: number;
  hurriedAt: number;
  /** The server failed several times in a row or a call was refused, so the next answer is reported at once. */
  isSuspect: boolean;
  wantedAt: number;
}

/** A failure is reported within this time, in milliseconds. */
const FAILURE_MS = 2_000;
/** Longest wait of a scheduled report, in milliseconds: work after a response may last half a minute. */
const MAX_WAIT_MS = 25_000;
/** This many failures in a row are reported at once. */
const HURRY_AT = 3;
/** Shortest time between two urgent reports to a server's monitor, in milliseconds. */
const HURRY_GAP_MS = 200;
/** Shortest time between two requests to a monitor to try its server, in milliseconds. */
const WANT_GAP_MS = 1_000;

export class CallReports {
  readonly #options: CallReportsOptions;
  readonly #accounts = new Map<string, Account>();

  constructor(options: CallReportsOptions) {
    this.#options = options;
  }

  /**
   * Counts a call; a late one of an older generation is dropped.
   * @param code of the error it ended with; undefined if it was answered
   * @param waitUntil runs what outlives the response
   */
  add(
    { id, generation }: { id: string; generation: number },
    code: ErrorCode | undefined,
    latencyMs: number,
    waitUntil: WaitUntil,
  ): void {
    const now = this.#options.now();
    const account = this.#accountOf(id, generation);
    if (!account) return;
    const outcome = account.tally.add(code, latencyMs, now);
    if (outcome === 'none') return;
    account.failuresInRow = outcome === 'failed' ? account.failuresInRow + 1 : 0;
    if (account.failuresInRow >= HURRY_AT) account.isSuspect = true;
    const isUrgent = outcome === 'good' ? account.isSuspect : account.failuresInRow >= HURRY_AT;
    if (isUrgent && now - account.hurriedAt >= HURRY_GAP_MS) {
      account.hurriedAt = now;
      account.isSuspect = outcome !== 'good';
      waitUntil(this.#report(id));
      return;
    }
    const waitMs = this.#waitOf(account, outcome, now);
    // The request that scheduled the report may have been cut off; after twice the time it was.
    const isComing = account.reportAt <= now + waitMs && now < account.reportAt + waitMs;
    if (waitMs > MAX_WAIT_MS || isComing) return;
    account.reportAt = now + waitMs;
    waitUntil(this.#options.wait(waitMs).then(() => this.#report(id)));
  }

  /** Returns how long a report waits for further calls, in milliseconds; a good call may be left to later ones. */
  #waitOf({ reportedAt }: Account, outcome: Outcome, now: number): number {
    const { intervalMs } = this.#options;
    if (outcome === 'failed') return Math.min(intervalMs, FAILURE_MS);
    return Math.max(Math.min(intervalMs, MAX_WAIT_MS), reportedAt + intervalMs - now);
  }

  /** A call was refused because the server's circuit is open. */
  refuse(
    { id, generation, circuitRetryAt }: Pick<Server, 'id' | 'generation' | 'circuitRetryAt'>,
    waitUntil: WaitUntil,
  ): void {
    const now = this.#options.now();
    const account = this.#accountOf(id, generation);
    if (!account) return;
    account.isSuspect = true;
    if (isSoon(circuitRetryAt ?? 0, now) || now - account.wantedAt < WANT_GAP_MS) return;
    account.wantedAt = now;
    // If the monitor cannot be reached now, a later call asks it again.
    waitUntil(this.#options.want(id, generation).catch(() => {}));
  }

  /** Returns the account of a server at a generation; undefined if calls of a newer generation are counted. */
  #accountOf(id: string, generation: number): Account | undefined {
    const known = this.#accounts.get(id);
    if (known?.tally.generation === generation) return known;
    if (known && known.tally.generation > generation) return undefined;
    const never = Number.NEGATIVE_INFINITY;
    const tally = new CallTally(generation);
    const account = {
      tally,
      failuresInRow: 0,
      reportAt: never,
      reportedAt: never,
      hurriedAt: never,
      isSuspect: false,
      wantedAt: never,
    };
    this.#accounts.set(id, account);
    return account;
  }

  async #report(id: string): Promise<void> {
    const account = this.#accounts.get(id);
    const report = account?.tally.toReport();
    if (!account || !report || report.calls === 0) return;
    account.tally = new CallTally(report.generation);
    account.reportAt = Number.NEGATIVE_INFINITY;
    account.reportedAt = this.#options.now();
    // If the monitor cannot be reached now, it gets reports of later calls only.
    await this.#options.send(id, report).catch(() => {});
  }
}
