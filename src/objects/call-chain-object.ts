/**
 * CallChain: seals the chunks of calls, adds their calls up, and deletes those that are older than the deployment keeps them. One object for the deployment,
 * woken by the isolates that handed something over; while there is nothing it does nothing but look once a day whether a chunk is old.
 */
import { DurableObject } from 'cloudflare:workers';
import { AdminAudit } from '../audit/admin-audit.ts';
import { CallChain as Chain, type KeptSeals } from '../audit/chunks/call-chain.ts';
import { configOf } from '../config.ts';
import { tellDenials } from './events-of.ts';

/** Chunks are sealed so long after the first of them came, in milliseconds. */
const SEAL_MS = 300_000;
const DAY_MS = 86_400_000;
/** Who looks at usage waits so long for another seal, or another part of it, in milliseconds. */
const LOOK_MS = 100;
/** Wait before what a look left over is added up, in milliseconds. */
const NEXT_MS = 1_000;
/** Wait before what failed, or was not finished, goes on, in milliseconds. */
const AGAIN_MS = 30_000;

export class CallChain extends DurableObject<Env> {
  readonly #chain = new Chain({
    db: this.env.DB,
    sql: this.ctx.storage.sql,
    adminAudit: new AdminAudit(this.env.DB),
  });

  /** There is something to be sealed, or will be. */
  async wake(): Promise<void> {
    await this.#wakeIn(SEAL_MS);
  }

  /** Seals what can be sealed. @returns what this object knows of the chain */
  async keep(): Promise<KeptSeals> {
    // What the database does not take shows in the comparison.
    await this.#chain.seal().catch(() => {});
    return this.#chain.kept;
  }

  /**
   * Seals what can be sealed, and adds up what is. What is left over is next, and shows until then in what is told of it.
   * @param isWhole whoever asks waits until there is nothing left
   */
  async addUp(isWhole = false): Promise<void> {
    const until = Date.now() + (isWhole ? Number.POSITIVE_INFINITY : LOOK_MS);
    const left = () => Math.max(0, until - Date.now());
    const isUnsealed = await this.#chain.seal(left()).catch(() => false);
    const isMore = await this.#chain.addUp(left()).catch(() => false);
    if (isUnsealed || isMore) await this.#wakeIn(NEXT_MS);
    await tellDenials(this.env);
  }

  override async alarm(): Promise<void> {
    const { retentionDays } = configOf(this.env).audit;
    const { seq } = this.#chain.kept.sealed;
    let isMore = false;
    try {
      await this.#chain.seal();
      isMore = await this.#chain.addUp();
      await tellDenials(this.env);
      if (retentionDays > 0) {
        isMore = (await this.#chain.prune(Date.now() - retentionDays * DAY_MS)) || isMore;
      }
    } catch {
      isMore = true;
    }
    const { sealed, pruned } = this.#chain.kept;
    if (isMore) await this.#wakeIn(AGAIN_MS);
    // What came last was too young to be sealed.
    else if (sealed.seq > seq) await this.#wakeIn(SEAL_MS);
    else if (sealed.seq > pruned.seq) await this.#wakeIn(DAY_MS);
  }

  /** The alarm comes after this time at the latest, in milliseconds. */
  async #wakeIn(ms: number): Promise<void> {
    const at = Date.now() + ms;
    const alarmAt = await this.ctx.storage.getAlarm();
    if (alarmAt === null || alarmAt > at) await this.ctx.storage.setAlarm(at);
  }
}
