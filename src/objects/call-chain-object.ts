/**
 * CallChain: one object for the deployment. Seals the chunks of calls, adds up their calls, and deletes chunks older than the retention
 * time. Isolates wake it after they wrote chunks. With nothing to seal, it only checks once a day for old chunks.
 */
import { DurableObject } from 'cloudflare:workers';
import { AdminAudit } from '../audit/admin-audit.ts';
import { CallChain as Chain, type KeptSeals } from '../audit/chunks/call-chain.ts';
import { configOf } from '../config.ts';
import { logFailure } from '../telemetry/failure-line.ts';
import { notifyDenials } from './events-of.ts';

/** Chunks are sealed this long after the first of them was written, in milliseconds. */
const SEAL_MS = 300_000;
const DAY_MS = 86_400_000;
/** A request for usage waits this long for another seal or another part of the sum, in milliseconds. */
const POLL_MS = 100;
/** Delay before the work that such a request left over continues, in milliseconds. */
const NEXT_MS = 1_000;
/** Delay before failed or unfinished work continues, in milliseconds. */
const AGAIN_MS = 30_000;

export class CallChain extends DurableObject<Env> {
  readonly #chain = new Chain({
    db: this.env.DB,
    sql: this.ctx.storage.sql,
    adminAudit: new AdminAudit(this.env.DB),
  });

  /** Chunks to seal exist or are about to be written. */
  async wake(): Promise<void> {
    await this.#wakeIn(SEAL_MS);
  }

  /** Seals what can be sealed. @returns what this object knows of the chain */
  async keep(): Promise<KeptSeals> {
    // Chunks that the database did not seal show up when the chain is compared.
    await this.#chain.seal().catch(() => {});
    return this.#chain.kept;
  }

  /**
   * Seals what can be sealed and adds up the sealed calls. Work that is left over continues later; until then it shows in what is reported.
   * @param isWhole wait until nothing is left over
   */
  async addUp(isWhole = false): Promise<void> {
    const until = Date.now() + (isWhole ? Number.POSITIVE_INFINITY : POLL_MS);
    const left = () => Math.max(0, until - Date.now());
    const isUnsealed = await this.#chain.seal(left()).catch(() => false);
    const isMore = await this.#chain.addUp(left()).catch(() => false);
    if (isUnsealed || isMore) await this.#wakeIn(NEXT_MS);
    await notifyDenials(this.env);
  }

  override async alarm(): Promise<void> {
    const config = configOf(this.env);
    const { retentionDays } = config.audit;
    const startedAt = Date.now();
    const { seq } = this.#chain.kept.sealed;
    let isMore = false;
    try {
      await this.#chain.seal();
      isMore = await this.#chain.addUp();
      await notifyDenials(this.env);
      if (retentionDays > 0) {
        isMore = (await this.#chain.prune(Date.now() - retentionDays * DAY_MS)) || isMore;
      }
    } catch (thrown) {
      isMore = true;
      await logFailure(this.env.LINES, config, 'audit', startedAt, thrown);
    }
    const { sealed, pruned } = this.#chain.kept;
    if (isMore) await this.#wakeIn(AGAIN_MS);
    // The newest chunks were too young to be sealed.
    else if (sealed.seq > seq) await this.#wakeIn(SEAL_MS);
    else if (sealed.seq > pruned.seq) await this.#wakeIn(DAY_MS);
  }

  /** Sets the alarm to at most this time from now, in milliseconds. */
  async #wakeIn(ms: number): Promise<void> {
    const at = Date.now() + ms;
    const alarmAt = await this.ctx.storage.getAlarm();
    if (alarmAt === null || alarmAt > at) await this.ctx.storage.setAlarm(at);
  }
}
