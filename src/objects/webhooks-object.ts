/**
 * Webhooks: one object for the deployment that delivers events in its alarm. The events are rows of the database. The object is notified
 * before an event may come, and then polls for it for a while. Without a webhook it sets no alarm.
 *
 * Invariant: while an event waits, an alarm is set no later than the event's time.
 */
import { DurableObject } from 'cloudflare:workers';
import { configOf } from '../config.ts';
import { createKeyRing } from '../shared/crypto/key-ring.ts';
import { logFailure } from '../telemetry/failure-line.ts';
import { deliver } from '../webhooks/deliver.ts';
import { hasWebhooks } from '../webhooks/webhook-store.ts';

/** First poll for an expected event after this time, in milliseconds. */
const FIRST_POLL_MS = 1_000;
/** Interval of the next polls, in milliseconds. */
const AGAIN_MS = 10_000;
/** How long an event is expected, in milliseconds: no write of the gateway takes longer. */
const EXPECT_MS = 60_000;
/** A failed run is retried after this time, in milliseconds. */
const FAILED_MS = 30_000;
/** Events that nobody reported are found within this time, in milliseconds. */
const SWEEP_MS = 86_400_000;
const UNTIL_KEY = 'expectedUntil';

export class Webhooks extends DurableObject<Env> {
  /** An event may come now or soon. */
  async expect(): Promise<void> {
    const now = Date.now();
    await this.ctx.storage.put(UNTIL_KEY, now + EXPECT_MS);
    await this.#wakeAt(now + FIRST_POLL_MS);
  }

  /** Something may be due. */
  async wake(): Promise<void> {
    await this.#wakeAt(Date.now());
  }

  override async alarm(): Promise<void> {
    const { DB: db, PORTICO_KEYS: ring, LINES: lines } = this.env;
    const config = configOf(this.env);
    const { allowsLoopback } = config;
    const startedAt = Date.now();
    let nextAt: number | undefined;
    let isInUse = true;
    try {
      nextAt = await deliver({ db, keys: createKeyRing(ring), allowsLoopback });
      isInUse = await hasWebhooks(db);
    } catch (thrown) {
      nextAt = Date.now() + FAILED_MS;
      await logFailure(lines, config, 'webhooks', startedAt, thrown);
    }
    const now = Date.now();
    const until = (await this.ctx.storage.get<number>(UNTIL_KEY)) ?? 0;
    if (!isInUse) return;
    const againAt = until > now ? Math.min(until, now + AGAIN_MS) : now + SWEEP_MS;
    await this.#wakeAt(Math.min(againAt, nextAt ?? againAt));
  }

  /** Sets the alarm to this time, unless it is already set to an earlier one. */
  async #wakeAt(at: number): Promise<void> {
    const alarmAt = await this.ctx.storage.getAlarm();
    if (alarmAt === null || alarmAt > at) await this.ctx.storage.setAlarm(at);
  }
}
