/**
 * Writes rows that requests wait for. An isolate has one commit under way, and the rows that come meanwhile go together with the next. Each
 * commit is made by a request that has a row in it, so none depends on a request that is over.
 */
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { AwaitedRow, EndedCall, GatheredCalls } from './gathered-calls.ts';

export interface GroupCommitPorts {
  gathered: Pick<GatheredCalls, 'hold' | 'handOver' | 'wake' | 'isFailing'>;
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** A row that is being written. */
export interface CommittedRow {
  /** Resolves to whether the row is in the database, after so many milliseconds at the latest. */
  isStoredWithin(ms: number): Promise<boolean>;
}

/** After this time, in milliseconds, a commit counts as cut off and another one begins. */
const CUT_OFF_MS = 5_000;
/** How long a request looks after its row, in milliseconds; afterwards the row goes with those of other requests. */
const COMMIT_MS = 20_000;
/** Wait after a commit that did not write the row, in milliseconds: if another request has the row, and if writes fail. */
const PAUSE_MS = { elsewhere: 10, failing: 500 };

export class GroupCommit {
  readonly #ports: GroupCommitPorts;
  #underWay: { since: number; over: Promise<void> } | undefined;

  constructor(ports: GroupCommitPorts) {
    this.#ports = ports;
  }

  /** Whether writes fail at present. */
  get isFailing(): boolean {
    return this.#ports.gathered.isFailing;
  }

  /** Sends a row, with all others that wait. */
  add(call: EndedCall, waitUntil: WaitUntil): CommittedRow {
    const { gathered } = this.#ports;
    const row = gathered.hold(call);
    waitUntil(this.#seeThrough(row, COMMIT_MS).then(() => gathered.wake()));
    return { isStoredWithin: ms => this.#seeThrough(row, ms) };
  }

  async #seeThrough(row: AwaitedRow, ms: number): Promise<boolean> {
    const { now, wait } = this.#ports;
    const until = now() + ms;
    while (!row.isStored && now() < until) {
      const commit = this.#underWay;
      const isUnderWay = commit !== undefined && now() < commit.since + CUT_OFF_MS;
      const over = isUnderWay ? commit.over : this.#commit();
      await Promise.race([over, wait(Math.min(CUT_OFF_MS, until - now()))]);
      if (row.isStored || isUnderWay) continue;
      await wait(this.isFailing ? PAUSE_MS.failing : PAUSE_MS.elsewhere);
    }
    return row.isStored;
  }

  #commit(): Promise<void> {
    const over = this.#handOver();
    this.#underWay = { since: this.#ports.now(), over };
    return over;
  }

  async #handOver(): Promise<void> {
    const { gathered, now } = this.#ports;
    // The end of a call may still be corrected within its millisecond.
    await gathered.handOver(now()).catch(() => {});
    this.#underWay = undefined;
  }
}
