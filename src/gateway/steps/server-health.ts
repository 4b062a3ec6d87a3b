/**
 * A call and the health of its server: refused before it leaves where the server is given a rest, and when it has ended reported, whether
 * it was answered or with what error. The isolate counts that in memory and tells each server's monitor now and then, of a failure soon, at
 * once where a server fails several times in a row or answers after that; of refused calls too, where no trial is near. No call waits for
 * any of it. What is lost with the isolate is lost: the good calls since it last told.
 */
import { type CallReport, CallTally, type Outcome } from '../../servers/health/call-report.ts';
import { isSoon } from '../../servers/health/circuit.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { type ErrorCode, errorEntry } from '../../shared/errors/table.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { CallMessages } from '../../upstream/protocol/call.ts';
import type { SendStep } from './send.ts';

/** A server that is called is tried within a second. */
const RETRY_AFTER_SECONDS = 1;

/** @param reports hear of it, since a server that is called is tried sooner */
export function refuseOpenCircuit(reports: Pick<CallReports, 'refuse'>): SendStep {
  return next => (server, request, name, context) => {
    const refusal = circuitRefusal(server);
    if (!refusal) return next(server, request, name, context);
    reports.refuse(server, context.waitUntil);
    return Promise.reject(refusal);
  };
}

/** Why a call to a server is refused, in the words that the registry has; undefined where its circuit is closed. */
export function circuitRefusal({ circuitRetryAt, lastError }: Server): PorticoError | undefined {
  if (circuitRetryAt === null) return undefined;
  const { title } = errorEntry('circuit_open');
  const why = lastError === null ? title : `${title}. It failed with ${lastError}`;
  return new PorticoError('circuit_open', why, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Told once how a call ended: answered, or with what error; not told of one its client left. */
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
  let isAsking = false;
  try {
    for await (const message of messages) {
      isAsking = message.kind === 'question';
      if (message.kind === 'response') onEnd();
      yield message;
    }
  } catch (thrown) {
    // Time that ran out while the client was asked is not the server's.
    onEnd(isAsking ? 'internal' : codeOf(thrown));
    throw thrown;
  }
}

export interface CallReportsOptions {
  /** Time between two reports of good calls, in milliseconds. */
  intervalMs: number;
  send(serverId: string, report: CallReport): Promise<unknown>;
  /** Have a server of which the circuit is open tried soon. */
  want(serverId: string, generation: number): Promise<unknown>;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

interface Account {
  tally: CallTally;
  /** Failures in a row, told or not. */
  failuresInRow: number;
  /** When somebody who set out tells; not finite where nobody did. */
  tellAt: number;
  toldAt: number;
  hurriedAt: number;
  /** Failed several times in a row or was refused, so that an answer is news. */
  isSuspect: boolean;
  wantedAt: number;
}

/** A failure is told within this time, in milliseconds. */
const FAILURE_MS = 2_000;
/** Work after a response may last half a minute: who sets out to tell waits this long at most, in milliseconds. */
const MAX_WAIT_MS = 25_000;
/** This many failures in a row are told at once. */
const HURRY_AT = 3;
/** A server's monitor is hurried this often at most, in milliseconds. */
const HURRY_GAP_MS = 200;
/** A monitor is told this often at most that its server is wanted, in milliseconds. */
const WANT_GAP_MS = 1_000;

export class CallReports {
  readonly #options: CallReportsOptions;
  readonly #accounts = new Map<string, Account>();

  constructor(options: CallReportsOptions) {
    this.#options = options;
  }

  /**
   * Count a call.
   * @param code of the error it ended with; undefined where it was answered
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
    const outcome = account.tally.add(code, latencyMs, now);
    if (outcome === 'none') return;
    account.failuresInRow = outcome === 'failed' ? account.failuresInRow + 1 : 0;
    if (account.failuresInRow >= HURRY_AT) account.isSuspect = true;
    const isUrgent = outcome === 'good' ? account.isSuspect : account.failuresInRow >= HURRY_AT;
    if (isUrgent && now - account.hurriedAt >= HURRY_GAP_MS) {
      account.hurriedAt = now;
      account.isSuspect = outcome !== 'good';
      waitUntil(this.#tell(id));
      return;
    }
    const waitMs = this.#waitOf(account, outcome, now);
    // Who set out before may have been cut off; twice the time is enough to know.
    const isComing = account.tellAt <= now + waitMs && now < account.tellAt + waitMs;
    if (waitMs > MAX_WAIT_MS || isComing) return;
    account.tellAt = now + waitMs;
    waitUntil(this.#options.wait(waitMs).then(() => this.#tell(id)));
  }

  /** How long others are waited for before a call is told of, in milliseconds; a good one may be left to those that come later. */
  #waitOf({ toldAt }: Account, outcome: Outcome, now: number): number {
    const { intervalMs } = this.#options;
    if (outcome === 'failed') return Math.min(intervalMs, FAILURE_MS);
    return Math.max(Math.min(intervalMs, MAX_WAIT_MS), toldAt + intervalMs - now);
  }

  /** A call was refused since the server's circuit is open. */
  refuse(
    { id, generation, circuitRetryAt }: Pick<Server, 'id' | 'generation' | 'circuitRetryAt'>,
    waitUntil: WaitUntil,
  ): void {
    const now = this.#options.now();
    const account = this.#accountOf(id, generation);
    account.isSuspect = true;
    if (isSoon(circuitRetryAt ?? 0, now) || now - account.wantedAt < WANT_GAP_MS) return;
    account.wantedAt = now;
    // A monitor that cannot be told now is told by the next call.
    waitUntil(this.#options.want(id, generation).catch(() => {}));
  }

  #accountOf(id: string, generation: number): Account {
    const known = this.#accounts.get(id);
    if (known?.tally.generation === generation) return known;
    const never = Number.NEGATIVE_INFINITY;
    const tally = new CallTally(generation);
    const account = {
      tally,
      failuresInRow: 0,
      tellAt: never,
      toldAt: never,
      hurriedAt: never,
      isSuspect: false,
      wantedAt: never,
    };
    this.#accounts.set(id, account);
    return account;
  }

  async #tell(id: string): Promise<void> {
    const account = this.#accounts.get(id);
    const report = account?.tally.toReport();
    if (!account || !report || report.calls === 0) return;
    account.tally = new CallTally(report.generation);
    account.tellAt = Number.NEGATIVE_INFINITY;
    account.toldAt = this.#options.now();
    // A monitor that cannot be told now is told of the next calls.
    await this.#options.send(id, report).catch(() => {});
  }
}
