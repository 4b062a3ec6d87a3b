/**
 * What a server's monitor remembers about the server's health: the last finding, failures in a row, the time of the last good message. It
 * is kept in the monitor's storage, written before anything of it is published, and reset when the connection to the server changes.
 */
import type { CallReport, CallSums } from './call-report.ts';
import { CLOSED, decideCircuit, wantTrial, type Circuit, type CircuitEvent } from './circuit.ts';
import { decisive, type Finding } from './finding.ts';
import { toMissedLists, type DiscoveryNotes } from './lists.ts';
import { begun, isAlike, REPEAT_MS, type Remembered } from './remembered.ts';
import type { Pace } from './health-settings.ts';
import { HealthLog, type LoggedCheck } from './health-log-store.ts';
import { averageMsOf, JUDGED_MS, KEPT_MS } from './windows.ts';

/** The history of a server: checks, newest first, and calls of the last minute, five minutes and hour. */
export interface History {
  checks: LoggedCheck[];
  windows: Record<'1m' | '5m' | '1h', CallSums>;
}

const KEY = 'health';
const RECENT_MS = 60_000;
/** Failed calls in a row that trigger an immediate check. */
const FAILURES_WORTH_A_CHECK = 3;

/** Whether the finding comes from a message exchanged with the server itself. */
const isExchange = ({ way }: Finding) => way === 'ping' || way === 'look';

/** The circuit events of a finding. A good health address does not prove that the server itself responds. */
function toEvents(finding: Finding): CircuitEvent[] {
  const isTrial = isExchange(finding);
  if (finding.kind === 'failed') return [{ failures: 1, isTrial }];
  return isTrial ? [{ failures: 0, isTrial }] : [];
}

function eventsOf({ calls, failuresInRow, isRowWhole, lastGoodAt }: CallReport): CircuitEvent[] {
  if (calls === 0) return [];
  const good = isRowWhole ? [] : [{ failures: 0, isTrial: false, lastGoodAt }];
  return failuresInRow === 0 ? good : [...good, { failures: failuresInRow, isTrial: false }];
}

/** The later of two times; the second comes from another clock, so it is capped at `now`. */
const latest = (a: number | null, b: number | null, now: number) =>
  b === null ? a : Math.max(a ?? 0, Math.min(b, now));

export interface MonitorHealthOptions {
  /** Failures in a row that open the circuit. */
  circuitFailures: number;
  health: Pace;
}

export class MonitorHealth {
  readonly #storage: DurableObjectStorage;
  readonly #log: HealthLog;
  readonly #options: MonitorHealthOptions;
  #held: Remembered | undefined;
  /** The value that is in storage. */
  #stored: Remembered | undefined;

  constructor(storage: DurableObjectStorage, options: MonitorHealthOptions) {
    this.#storage = storage;
    this.#log = new HealthLog(storage.sql);
    this.#options = options;
  }

  /** Returns what is known about the server at this generation. */
  async of(generation: number): Promise<Readonly<Remembered>> {
    const held = await this.#load();
    if (held?.generation === generation) return held;
    return (this.#held = begun(generation, held));
  }

  /** Whether the last check failed. */
  async isFailing(): Promise<boolean> {
    return ((await this.#load())?.failures ?? 0) > 0;
  }

  /**
   * Time within which an isolate's report calls for a check, in milliseconds; undefined if it does not. At once after failures in a row, or
   * after a good message from a failing server; within the usual interval after any failure, however quiet the server was before.
   */
  async checkWithinMs({ lastGoodAt, failuresInRow, errors }: CallReport) {
    const isUrgent = (await this.isFailing())
      ? lastGoodAt !== null
      : failuresInRow >= FAILURES_WORTH_A_CHECK;
    if (isUrgent) return 0;
    return errors > 0 ? this.#options.health.intervalMs : undefined;
  }

  /**
   * Adds an isolate's report. Calls at another generation count in the history only.
   * @returns the circuit, if the report opened or closed it
   */
  async addReport(report: CallReport, now: number): Promise<Circuit | undefined> {
    const before = await this.#load();
    if (!before) return undefined;
    const isNow = before.generation === report.generation;
    const next: Remembered = {
      ...before,
      lastGoodAt: isNow ? latest(before.lastGoodAt, report.lastGoodAt, now) : before.lastGoodAt,
      circuit: isNow ? this.#decideCircuit(before.circuit, eventsOf(report), now) : before.circuit,
      callsTotal: before.callsTotal + report.calls,
      errorsTotal: before.errorsTotal + report.errors,
      ...(isNow && report.errors > 0 && { eventAt: now }),
    };
    this.#held = next;
    // Good news needs one row: it contains the totals, and they are read from there.
    this.#log.addCalls(now, report.generation, report, next);
    if (!isNow || !isAlike(before, next)) await this.#put(next);
    const wasOpen = before.circuit.retryAt !== null;
    return wasOpen === (next.circuit.retryAt !== null) ? undefined : next.circuit;
  }

  /**
   * A caller wants the server and was refused.
   * @returns the time of the next trial; undefined if the circuit is not open at this generation
   */
  async want(generation: number, now: number): Promise<number | undefined> {
    const before = await this.#load();
    if (before?.generation !== generation || before.circuit.retryAt === null) return undefined;
    const circuit = wantTrial(before.circuit, now, Math.random());
    await this.#put({ ...before, circuit });
    return circuit.retryAt ?? undefined;
  }

  /**
   * Applies the findings of a trial to the circuit only; `settle` does the rest.
   * @param dueAt the current time, or the time of the cycle's alarm if that is later
   */
  async tried(generation: number, findings: readonly Finding[], dueAt: number): Promise<Circuit> {
    await this.of(generation);
    const before = this.#held ?? begun(generation);
    const circuit = this.#decideCircuit(before.circuit, findings.flatMap(toEvents), dueAt);
    await this.#put({ ...before, circuit });
    return circuit;
  }

  #decideCircuit(circuit: Circuit, events: readonly CircuitEvent[], now: number): Circuit {
    const terms = { limit: this.#options.circuitFailures, now, random: Math.random() };
    return events.reduce((current, event) => decideCircuit(current, event, terms), circuit);
  }

  async #load(): Promise<Remembered | undefined> {
    if (this.#held) return this.#held;
    const stored = await this.#storage.get<Remembered>(KEY);
    // A circuit stored by an older version lacks some fields.
    const complete = stored && { ...stored, circuit: { ...CLOSED, ...stored.circuit } };
    if (this.#held) return this.#held;
    this.#stored = complete;
    return (this.#held = complete && this.#withTotals(complete));
  }

  async #put(next: Remembered): Promise<void> {
    this.#held = next;
    this.#stored = next;
    await this.#storage.put(KEY, next);
  }

  /** Adds the calls that were counted since the value was stored. */
  #withTotals(stored: Remembered): Remembered {
    const last = this.#log.lastTotals();
    if (!last) return stored;
    const { generation, callsTotal, errorsTotal, lastGoodAt } = last;
    return {
      ...stored,
      callsTotal: Math.max(stored.callsTotal, callsTotal),
      errorsTotal: Math.max(stored.errorsTotal, errorsTotal),
      lastGoodAt:
        generation === stored.generation
          ? latest(stored.lastGoodAt, lastGoodAt, Number.POSITIVE_INFINITY)
          : stored.lastGoodAt,
    };
  }

  /** Whether a good message since the last check replaces the next check. */
  async hasRecentMessage(generation: number, now: number, intervalMs: number): Promise<boolean> {
    const { lastGoodAt, checkedAt, circuit } = await this.of(generation);
    if (circuit.retryAt !== null) return false;
    if (lastGoodAt === null || checkedAt === null) return false;
    return lastGoodAt > checkedAt && now - lastGoodAt <= intervalMs;
  }

  /**
   * Applies the findings of a check cycle. An unchanged result is written only every quarter of an hour.
   * @param notes what a discovery left out and missed; undefined if there was none
   * @param times the current time, and `dueAt` as for `tried`: an open circuit is tried when it is due
   */
  async settle(
    generation: number,
    findings: readonly Finding[],
    notes: DiscoveryNotes | undefined,
    { now, dueAt }: { now: number; dueAt: number },
  ): Promise<Readonly<Remembered>> {
    await this.of(generation);
    // Read after the wait, so that reports that arrived meanwhile are counted.
    const before = this.#held ?? begun(generation);
    const finding = decisive(findings);
    if (!finding) return before;
    const { kind, way, reason, responseTimeMs } = finding;
    const isEvent = kind !== before.kind || reason !== before.reason || notes?.isNew === true;
    const isMessage = findings.some(found => found.kind === 'good' && isExchange(found));
    const next: Remembered = {
      ...before,
      checkedAt: now,
      kind,
      way,
      reason,
      eventAt: isEvent ? now : (before.eventAt ?? now),
      responseTimeMs: responseTimeMs ?? before.responseTimeMs,
      failures: kind === 'failed' ? before.failures + 1 : 0,
      lastGoodAt: isMessage ? now : before.lastGoodAt,
      ...(notes && {
        warning: notes.warning,
        missedLists: toMissedLists(notes.missed, before.missedLists ?? null),
      }),
      circuit: this.#decideCircuit(before.circuit, findings.flatMap(toEvents), dueAt),
    };
    this.#held = next;
    const stored = this.#stored;
    const isKnown = stored !== undefined && isAlike(stored, next);
    if (isKnown && now - (stored.checkedAt ?? 0) < REPEAT_MS) return next;
    await this.#put(next);
    this.#log.addCheck(now, finding);
    return next;
  }

  /** The calls by which the error rate is judged. */
  judgedCalls(generation: number, now: number): CallSums {
    return this.#log.sumCalls(now, JUDGED_MS, generation);
  }

  /** Mean response time of the last minute, in milliseconds; null if there were no responses. */
  recentAverageMs(generation: number, now: number): number | null {
    return averageMsOf(this.#log.sumCalls(now, RECENT_MS, generation));
  }

  /** @param before id of a check; returns the checks before it */
  history(before: number | undefined, limit: number, now: number): History {
    const sums = (windowMs: number) => this.#log.sumCalls(now, windowMs);
    return {
      checks: this.#log.listChecks(before, limit),
      windows: { '1m': sums(60_000), '5m': sums(300_000), '1h': sums(KEPT_MS) },
    };
  }

  /** Call after the storage was emptied. */
  forget(): void {
    this.#held = undefined;
    this.#stored = undefined;
    this.#log.forget();
  }
}
