/**
 * One round of a server's monitor: the check that is due, the look that is due, and what both make of the server's row. A check
 * asks the health address; without one a good message since the last check counts, else a light message is sent. A server that
 * was never discovered is looked at, whatever is due, and so is one to which there is no channel, whose changes are not heard. A list that
 * cannot be read degrades its server, keeps what it had before, and is looked at again with backoff; the other lists serve. An open
 * circuit is tried with a message: a good one closes it before anything else is done, a bad one is noted nowhere but in the circuit.
 *
 * Invariants: a catalog holds what is approved only; it is stored before a row names it; what was found is written only over the generation it was found at; the
 * server's row is written only where something about it changes; its line in `server_health` too, and every quarter of an hour besides.
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
import type { LookNotes } from '../servers/health/lists.ts';
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
import type { Pinning } from './approve-tools.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isOffered } from '../servers/registry/status.ts';
import type { Deadline } from '../http/deadline.ts';
import type { UpstreamWatch } from '../upstream/discovery/watch.ts';
import type { CatalogWriter } from './catalog-writer.ts';
import { isChange, isChanged } from './row-changes.ts';
import { withLastLists } from './last-lists.ts';
import { decideDelayMs } from './monitor-schedule.ts';
import type { Due, Wanted } from './monitor-clock.ts';
import type { ChangeNotifier } from './change-notifier.ts';

/** Longest time of one look at a server, in milliseconds. */
const LOOK_MS = 20_000;
/** Longest time of one check, in milliseconds. */
const CHECK_MS = 5_000;
/** What the row says of a server whose calls fail too often; the share changes too often to be in it. */
const ELEVATED = 'elevated_errors: More calls fail than may';

export interface CheckCyclePorts {
  db: D1Database;
  health: MonitorHealth;
  approvals: Pinning;
  catalogs: CatalogWriter;
  notifier: ChangeNotifier;
  watchOf(server: Server): Promise<UpstreamWatch>;
  /** Whether changes should be heard and are not: the next look hears them. */
  isDeaf(): Promise<boolean>;
  /** Within which time the lists are to be read again, in milliseconds, whatever their pace. */
  lookWithinMs(): Promise<number>;
  /** The channel to the server is no good any more. */
  dropWatch(server: Server, error: PorticoError): void;
  askHealthUrl(server: Server, url: string, deadline: Deadline): Promise<void>;
  createDeadline(timeoutMs: number): Deadline;
  expectEvents(): Promise<void>;
  defaults: HealthDefaults;
  /** When lists are read again. */
  discovery: Pace;
}

/** What a round does. */
export interface Task extends Due {
  /** Store the catalog again, whatever is known of it. */
  rewrite?: boolean;
}

/** A look that succeeded. */
interface Found {
  discovery: Discovery;
  notes: LookNotes;
}

export class CheckCycle {
  readonly #ports: CheckCyclePorts;

  #turn: Promise<unknown> = Promise.resolve();
  /** The row's circuit was written since a round last wrote it, so that what a round read of it may be old. */
  #isCircuitWritten = false;

  constructor(ports: CheckCyclePorts) {
    this.#ports = ports;
  }

  /** @returns what is due next */
  async run(server: Server, task: Task): Promise<Wanted> {
    const isNew = !isOffered(server.status) || server.catalogHash === null;
    const wantsLook = task.discover || (await this.#ports.isDeaf());
    const { health } = this.#ports;
    const { circuit, kind: lastKind } = await health.of(server.generation);
    // While it is open, a message goes before a look: who waits for the server does not wait for its lists.
    const isTrial = circuit.retryAt !== null && (circuit.retryAt <= task.at || wantsLook) && !isNew;
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
    if (isNew || (wantsLook && !isMute)) {
      findings.push(
        await this.#timed(server, 'look', LOOK_MS, async deadline => {
          found = await this.#discover(server, deadline, task.rewrite === true);
        }),
      );
    }
    const finding = decisive(findings);
    if (!finding) return circuit.retryAt === null ? {} : { wakeAt: circuit.retryAt };
    const now = Date.now();
    const times = { now, dueAt: Math.max(now, task.at) };
    const known = await health.settle(server.generation, findings, found?.notes, times);
    await this.#inTurn(() => this.#write(server, finding, found));
    const { retryAt } = known.circuit;
    const next = await this.#next(server, wantsLook, finding, known);
    // Whatever is made of a catalog beside is made of the row that names it.
    const isNamed = found !== undefined && found.discovery.catalogHash !== server.catalogHash;
    const wakeAt = isNamed ? Date.now() : retryAt;
    return wakeAt === null ? next : { ...next, wakeAt };
  }

  /** What a trial found goes to the circuit, and to every isolate where it closed or is tried at another pace. */
  async #settleTrial(server: Server, findings: readonly Finding[], dueAt: number) {
    const { retryAt } = await this.#ports.health.tried(server.generation, findings, dueAt);
    const { circuitRetryAt: shown } = server;
    if (shownRetryAt(shown, retryAt, Date.now()) !== shown) await this.showCircuit(server);
    return retryAt;
  }

  /** The circuit opened, closed or is tried at another pace: every isolate hears of it. */
  showCircuit(server: Pick<Server, 'id' | 'generation'>): Promise<void> {
    const { db, health } = this.#ports;
    return this.#inTurn(async () => {
      const { circuit } = await health.of(server.generation);
      this.#isCircuitWritten = true;
      await updateCircuit(db, server, circuit.retryAt, Date.now()).run();
    });
  }

  /** When to check and look again; after a failure both come sooner. */
  async #next(server: Server, isLook: boolean, { kind }: Finding, known: Remembered) {
    const { failures, missedLists, eventAt } = known;
    const { discovery, lookWithinMs } = this.#ports;
    const checks = settingsOf(server.healthSettings, this.#ports.defaults);
    const withinMs = await lookWithinMs();
    const now = Date.now();
    // One number for both, so that what has the same pace comes with the same alarm.
    const random = Math.random();
    const decide = (times: number, pace: Pace) =>
      decideDelayMs(times, pace, now - (eventAt ?? now), random);
    const checkAt = now + decide(kind === 'failed' ? failures : 0, checks);
    if (kind === 'failed') return { checkAt, lookAt: checkAt };
    if (!isLook && kind === 'good') return { checkAt };
    // What needs another credential is not worth more than a look at each check.
    const lookMs = decide(missedLists?.times ?? 0, kind === 'good' ? discovery : checks);
    return { checkAt, lookAt: now + Math.min(lookMs, withinMs) };
  }

  async #check(server: Server): Promise<Finding> {
    const { health, defaults, askHealthUrl } = this.#ports;
    const url = server.healthCheckUrl;
    if (url !== null) {
      return this.#timed(server, 'url', CHECK_MS, deadline => askHealthUrl(server, url, deadline));
    }
    const { intervalMs } = settingsOf(server.healthSettings, defaults);
    if (await health.wasHeard(server.generation, Date.now(), intervalMs)) {
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

  /** A message to the server within a time, as what it tells of the server's health. */
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
    // What was listed before the server was reached in another way is not what it lists now.
    const isKept = found.failed.length > 0 && isOffered(server.status);
    const last = isKept ? await catalogs.last(server.id, server.catalogHash) : undefined;
    const admitted = await approvals.admit(server, withLastLists(found, last));
    const { items, verdict, warning } = admitted;
    const catalogHash = await catalogs.keep(server.id, admitted, server.catalogHash, rewrite);
    const missed = found.failed.map(({ error }) => error);
    const notes = { warning, missed, isNew: catalogHash !== server.catalogHash };
    if (catalogHash !== server.catalogHash || !isOffered(server.status)) await notifier.note(items);
    return { discovery: { verdict, catalogHash, toolCount: items.tools.length }, notes };
  }

  /** Record what was found, where it differs from the row; and the check itself. */
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
    if (!isDiscovered) await notifier.noteUnread(server.accounts, status);
    const trouble = finding.detail ?? missed?.detail ?? (isHigh ? ELEVATED : null);
    // What was never discovered is sent no calls that would have to be kept from it.
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
    if (isShown) {
      await db.batch([
        ...(discovery ? [updateDiscovered(db, server, discovery, judged, now)] : []),
        ...(isJudged && !discovery ? [updateJudged(db, server, judged, now)] : []),
        upsertServerHealth(db, shown),
      ]);
    }
    this.#isCircuitWritten = false;
    if (discovery && discovery.catalogHash !== server.catalogHash) {
      await catalogs.retire(server.id, server.catalogHash, discovery.catalogHash);
    }
  }

  /** One write after the other, each of what is known when its turn comes. */
  #inTurn(write: () => Promise<void>): Promise<void> {
    const result = this.#turn.then(write);
    this.#turn = result.catch(() => {});
    return result;
  }
}

/** What is thrown outside of the table is a session the server does not keep. */
function asUpstreamError(thrown: unknown): PorticoError {
  const error = toPorticoError(thrown);
  return error.code === 'internal' ? new PorticoError('upstream_session') : error;
}
