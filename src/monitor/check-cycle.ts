/**
 * One check cycle of a server's monitor: the check and the discovery that are due, and the resulting update of the server's row. A check
 * requests the health address; without one, a good message since the last check counts, else the monitor sends a light message. Discovery
 * also runs, whatever is due, for a server that was never discovered and for one without the channel that should announce changes. A list
 * that cannot be read degrades the server, keeps its last items and is retried with backoff; the other lists are served. An open circuit is
 * tried with a message: a good trial closes it before anything else is done, a bad one is recorded in the circuit only.
 *
 * Invariants: a catalog has approved definitions only; it is stored before a row names it; findings are written only over the generation
 * they belong to; the server's row is written only if something in it changes, its row in `server_health` also every quarter of an hour.
 */
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import {
  decisive,
  goodFinding,
  toFinding,
  type CheckWay,
  type Finding,
} from '../servers/health/finding.ts';
import { settingsOf, type HealthDefaults, type Pace } from '../servers/health/health-settings.ts';
import type { DiscoveryNotes } from '../servers/health/lists.ts';
import { shownRetryAt } from '../servers/health/circuit.ts';
import type { MonitorHealth } from '../servers/health/monitor-health.ts';
import type { Remembered } from '../servers/health/remembered.ts';
import { decideState, decideStatus } from '../servers/health/next-status.ts';
import { errorRateOf, isElevated, mainReason } from '../servers/health/windows.ts';
import { isNewToShow, type ServerHealth } from '../servers/health/server-health.ts';
import { findServerHealth, upsertServerHealth } from '../servers/health/server-health-store.ts';
import {
  updateCircuit,
  updateDiscovered,
  updateJudged,
  type Discovery,
  type Judged,
} from '../servers/registry/discovery-store.ts';
import { applyDecisions, type DecisionPorts } from './apply-decisions.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import type { Deadline } from '../http/deadline.ts';
import type { UpstreamWatch } from '../upstream/discovery/watch.ts';
import { isChange, isChanged } from './row-changes.ts';
import { withLastLists } from './last-lists.ts';
import { decideDelayMs } from './monitor-schedule.ts';
import type { Due, Wanted } from './monitor-clock.ts';

/** Time limit of a discovery, in milliseconds. */
const DISCOVERY_MS = 20_000;
/** Time limit of a check, in milliseconds. */
const CHECK_MS = 5_000;
/** Error text in the row when calls fail too often; without the share, which changes too often. */
const ELEVATED = 'elevated_errors: Too many calls fail';

export interface CheckCyclePorts extends DecisionPorts {
  health: MonitorHealth;
  watchOf(server: Server): Promise<UpstreamWatch>;
  /** Whether the channel that announces changes should be open but is not: the next discovery opens it. */
  lacksStream(): Promise<boolean>;
  /** Time within which the lists must be read again, in milliseconds, whatever their pace. */
  discoverWithinMs(): Promise<number>;
  /** Drops the channel to the server after an error. */
  dropWatch(server: Server, error: PorticoError): void;
  getHealthUrl(server: Server, url: string, deadline: Deadline): Promise<void>;
  createDeadline(timeoutMs: number): Deadline;
  expectEvents(): Promise<void>;
  defaults: HealthDefaults;
  discovery: Pace;
}

/** The work of one cycle. */
export interface Task extends Due {
  /** Store the catalog again, even if it is unchanged. */
  rewrite?: boolean;
}

/** A successful discovery. */
interface Found {
  discovery: Discovery;
  notes: DiscoveryNotes;
}

export class CheckCycle {
  readonly #ports: CheckCyclePorts;

  #turn: Promise<unknown> = Promise.resolve();
  /** The circuit in the row was written after the cycle's last write, so the row that a cycle read may be outdated. */
  #isCircuitWritten = false;

  constructor(ports: CheckCyclePorts) {
    this.#ports = ports;
  }

  /** @returns what is due next */
  async run(read: Server, task: Task): Promise<Wanted> {
    const { server, isDecided } = await applyDecisions(read, this.#ports);
    const isNew = !isOffered(server.status) || server.catalogHash === null;
    const discovers = task.discover || isDecided || (await this.#ports.lacksStream());
    const { health, notifier, catalogs } = this.#ports;
    const { circuit, kind: lastKind } = await health.of(server.generation);
    // While the circuit is open, a message precedes discovery, so that waiting callers do not wait for the lists.
    const isTrial = circuit.retryAt !== null && (circuit.retryAt <= task.at || discovers) && !isNew;
    const findings: Finding[] = [];
    let found: Found | undefined;
    if (task.check && !isNew) findings.push(await this.#check(server));
    if (isTrial && !findings.some(({ way }) => way === 'ping')) {
      findings.push(await this.#ping(server));
    }
    const isMute = findings.some(({ kind, way }) => way === 'ping' && kind !== 'good');
    if (circuit.retryAt !== null && findings.length > 0) {
      const retryAt = await this.#settleTrial(server, findings, Math.max(Date.now(), task.at));
      const isBare = !task.check && !task.discover && lastKind === 'failed';
      if (retryAt !== null && isBare) return { wakeAt: retryAt };
    }
    if (isNew || (discovers && !isMute)) {
      findings.push(
        await this.#timed(server, 'look', DISCOVERY_MS, async deadline => {
          found = await this.#discover(server, deadline, task.rewrite || notifier.isLost);
        }),
      );
    }
    const finding = decisive(findings);
    if (!finding) return circuit.retryAt === null ? {} : { wakeAt: circuit.retryAt };
    const times = { now: Date.now(), dueAt: Math.max(Date.now(), task.at) };
    const known = await health.settle(server.generation, findings, found?.notes, times);
    if (task.rewrite && !found) await notifier.noteLost(server, catalogs);
    await this.#inTurn(() => this.#write(server, finding, found));
    if (found) notifier.noteNamed();
    const { retryAt } = known.circuit;
    const next = await this.#next(server, discovers, finding, known);
    // Work derived from a catalog needs the row that names it, so the next cycle follows at once.
    const isNamed = found !== undefined && found.discovery.catalogHash !== server.catalogHash;
    const wakeAt = isNamed ? Date.now() : retryAt;
    return wakeAt === null ? next : { ...next, wakeAt };
  }

  /** Applies a trial's findings to the circuit, and writes the row if the circuit closed or its pace changed. */
  async #settleTrial(server: Server, findings: readonly Finding[], dueAt: number) {
    const { retryAt } = await this.#ports.health.tried(server.generation, findings, dueAt);
    const { circuitRetryAt: shown } = server;
    if (shownRetryAt(shown, retryAt, Date.now()) !== shown) await this.showCircuit(server);
    return retryAt;
  }

  /** Publishes the circuit in the row, where every isolate sees it: it opened, closed, or is tried at another pace. */
  showCircuit(server: Pick<Server, 'id' | 'generation'>): Promise<void> {
    const { db, health } = this.#ports;
    return this.#inTurn(async () => {
      const { circuit } = await health.of(server.generation);
      this.#isCircuitWritten = true;
      await updateCircuit(db, server, circuit.retryAt, Date.now()).run();
    });
  }

  /** Times of the next check and discovery; a failure brings both forward. */
  async #next(server: Server, isDiscovery: boolean, { kind }: Finding, known: Remembered) {
    const { failures, missedLists, eventAt } = known;
    const { discovery, discoverWithinMs } = this.#ports;
    const checks = settingsOf(server.healthSettings, this.#ports.defaults);
    const withinMs = await discoverWithinMs();
    const now = Date.now();
    // One number for both, so that tasks with the same pace share an alarm.
    const random = Math.random();
    const decide = (times: number, pace: Pace) =>
      decideDelayMs(times, pace, now - (eventAt ?? now), random);
    const checkAt = now + decide(kind === 'failed' ? failures : 0, checks);
    if (kind === 'failed') return { checkAt, discoverAt: checkAt };
    if (!isDiscovery && kind === 'good') return { checkAt };
    // A server that needs another credential is discovered at the pace of its checks.
    const discoverMs = decide(missedLists?.times ?? 0, kind === 'good' ? discovery : checks);
    return { checkAt, discoverAt: now + Math.min(discoverMs, withinMs) };
  }

  async #check(server: Server): Promise<Finding> {
    const { health, defaults, getHealthUrl } = this.#ports;
    const url = server.healthCheckUrl;
    if (url !== null) {
      return this.#timed(server, 'url', CHECK_MS, deadline => getHealthUrl(server, url, deadline));
    }
    const { intervalMs } = settingsOf(server.healthSettings, defaults);
    if (await health.hasRecentMessage(server.generation, Date.now(), intervalMs)) {
      return goodFinding('message', health.recentAverageMs(server.generation, Date.now()));
    }
    return this.#ping(server);
  }

  #ping(server: Server): Promise<Finding> {
    const { watchOf } = this.#ports;
    return this.#timed(server, 'ping', CHECK_MS, async deadline =>
      (await watchOf(server)).ping(deadline),
    );
  }

  /** Runs one exchange with a time limit and returns its finding. */
  async #timed(
    server: Server,
    way: CheckWay,
    timeoutMs: number,
    work: (deadline: Deadline) => Promise<void>,
  ): Promise<Finding> {
    const startedAt = Date.now();
    const deadline = this.#ports.createDeadline(timeoutMs);
    try {
      await work(deadline);
      return goodFinding(way, Date.now() - startedAt);
    } catch (thrown) {
      const error = asUpstreamError(thrown);
      if (way !== 'url') this.#ports.dropWatch(server, error);
      return toFinding(way, error, Date.now() - startedAt);
    } finally {
      deadline.release();
    }
  }

  async #discover(server: Server, deadline: Deadline, rewrite: boolean): Promise<Found> {
    const { watchOf, approvals, catalogs, notifier } = this.#ports;
    const found = await (await watchOf(server)).discover(deadline);
    // If the connection has changed since, the last catalog's lists are not the server's current ones.
    const isKept = found.failed.length > 0 && isOffered(server.status);
    const last = isKept ? await catalogs.last(server.id, server.catalogHash) : undefined;
    const admitted = await approvals.admit(server, withLastLists(found, last));
    const { items, verdict, warning } = admitted;
    const catalogHash = await catalogs.keep(server.id, admitted, server.catalogHash, rewrite);
    const isNew = catalogHash !== server.catalogHash;
    const notes = { warning, missed: found.failed.map(({ error }) => error), isNew };
    const isNoted = !isNew && !rewrite && isOffered(server.status) && !notifier.isUnnamed;
    if (!isNoted) await notifier.note(items);
    return { discovery: { verdict, catalogHash, toolCount: items.tools.length }, notes };
  }

  /** Writes the check, and whatever in the findings differs from the row. */
  async #write(server: Server, finding: Finding, found: Found | undefined): Promise<void> {
    const { db, health, catalogs, notifier, defaults } = this.#ports;
    const now = Date.now();
    const known = await health.of(server.generation);
    const { degradedErrorRate, failureThreshold } = settingsOf(server.healthSettings, defaults);
    const calls = health.judgedCalls(server.generation, now);
    const isHigh = isElevated(calls, degradedErrorRate);
    const missed = known.missedLists ?? null;
    const isDiscovered = found !== undefined || server.catalogHash !== null;
    const status = decideStatus({
      status: server.status,
      isDiscovered,
      finding: finding.kind,
      failures: known.failures,
      threshold: failureThreshold,
      isImpaired: isHigh || missed !== null,
    });
    if (!found) await notifier.noteUnread(server, status, catalogs);
    const trouble = finding.detail ?? missed?.detail ?? (isHigh ? ELEVATED : null);
    // A server that was never discovered gets no calls, so its circuit is not published.
    const { retryAt } = known.circuit;
    const before = this.#isCircuitWritten ? null : server.circuitRetryAt;
    const circuitRetryAt = isDiscovered ? shownRetryAt(before, retryAt, now) : null;
    const judged: Judged = { status, lastError: trouble ?? known.warning, circuitRetryAt };
    const shown: ServerHealth = {
      serverId: server.id,
      generation: server.generation,
      state: decideState(status, finding.kind, isHigh || missed !== null),
      reason: finding.reason ?? missed?.reason ?? (isHigh ? mainReason(calls) : null),
      checkedAt: now,
      responseTimeMs: known.responseTimeMs,
      errorRate: errorRateOf(calls),
      consecutiveFailures: known.failures,
      lastGoodAt: known.lastGoodAt,
      callsTotal: known.callsTotal,
      errorsTotal: known.errorsTotal,
    };
    const discovery = found && isChanged(server, found.discovery) ? found.discovery : undefined;
    const isJudged = this.#isCircuitWritten || isChange(server, judged);
    const isShown =
      isJudged || discovery || isNewToShow(await findServerHealth(db, server.id), shown);
    if (isJudged) await this.#ports.expectEvents();
    if (!isShown) return;
    const [written] = await db.batch([
      ...(discovery ? [updateDiscovered(db, server, discovery, judged, now)] : []),
      ...(isJudged && !discovery ? [updateJudged(db, server, judged, now)] : []),
      upsertServerHealth(db, shown),
    ]);
    this.#isCircuitWritten = false;
    if (discovery && discovery.catalogHash !== server.catalogHash) {
      await catalogs.retire(server, discovery.catalogHash, written?.meta.changes !== 0);
    }
  }

  /** Runs the writes one after another; each uses the state at its turn. */
  #inTurn(write: () => Promise<void>): Promise<void> {
    const result = this.#turn.then(write);
    this.#turn = result.catch(() => {});
    return result;
  }
}

/** An error outside the error table means that the server did not keep the session. */
function asUpstreamError(thrown: unknown): PorticoError {
  const error = toPorticoError(thrown);
  return error.code === 'internal' ? new PorticoError('upstream_session') : error;
}
