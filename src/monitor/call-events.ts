/** Handles reports about calls in the server's monitor: updates the circuit and schedules the checks that they call for. */
import type { CallReport } from '../servers/health/call-report.ts';
import type { MonitorHealth } from '../servers/health/monitor-health.ts';
import type { MonitorClock } from './monitor-clock.ts';
import type { CheckCycle } from './check-cycle.ts';

export class CallEvents {
  readonly #health: MonitorHealth;
  readonly #clock: MonitorClock;
  readonly #checkCycle: Pick<CheckCycle, 'showCircuit'>;

  constructor(
    health: MonitorHealth,
    clock: MonitorClock,
    checkCycle: Pick<CheckCycle, 'showCircuit'>,
  ) {
    this.#health = health;
    this.#clock = clock;
    this.#checkCycle = checkCycle;
  }

  /** Handles an isolate's report on the server's calls. @returns whether it opened or closed the circuit */
  async handle(id: string, report: CallReport): Promise<boolean> {
    const now = Date.now();
    const circuit = await this.#health.addReport(report, now);
    if (circuit) {
      if (circuit.retryAt !== null) await this.#clock.want({ wakeAt: circuit.retryAt });
      await this.#checkCycle.showCircuit({ id, generation: report.generation });
    }
    const withinMs = await this.#health.checkWithinMs(report);
    if (withinMs !== undefined) await this.#clock.want({ checkAt: now + withinMs });
    return circuit !== undefined;
  }

  /** Calls were refused because the circuit is open: schedules a trial soon. */
  async want(generation: number): Promise<void> {
    const retryAt = await this.#health.want(generation, Date.now());
    if (retryAt !== undefined) await this.#clock.want({ wakeAt: retryAt });
  }
}
