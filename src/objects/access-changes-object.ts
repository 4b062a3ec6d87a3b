/**
 * AccessChanges: one object for the deployment. It notifies open streams when access changed, so that callers may see other lists than
 * before. It stores an alarm first and notifies in the alarm, so nothing is lost if a Worker stops after a change.
 *
 * Invariant: a change that arrives during a notification causes another one.
 */
import { DurableObject } from 'cloudflare:workers';
import { configOf } from '../config.ts';
import { listStreamOwners } from '../sessions/notifications/stream-store.ts';
import { notifyOwners } from '../sessions/notifications/fan-out.ts';

const AGAIN_KEY = 'againAt';
/** An alarm that is this late was lost, in milliseconds. */
const LOST_MS = 2_000;
/** A failed notification is repeated after this time, in milliseconds: the platform repeats a failed alarm only a few times. */
const FAILED_MS = 30_000;
/** Streams are notified this long after the last isolate stopped using the old access data, in milliseconds. */
const MARGIN_MS = 50;

export class AccessChanges extends DurableObject<Env> {
  readonly #settleMs = configOf(this.env).listMaxAgeMs + MARGIN_MS;

  /** Access rules, toolsets, groups, scopes or tokens have changed. */
  async changed(): Promise<void> {
    const { storage } = this.ctx;
    const now = Date.now();
    const at = now + this.#settleMs;
    const alarmAt = await storage.getAlarm();
    // Changes that never cease must not put the notification of the first one off for ever; one that failed is due sooner now.
    if (alarmAt !== null && alarmAt > now - LOST_MS && alarmAt <= at)
      await storage.put(AGAIN_KEY, at);
    else await storage.setAlarm(at);
  }

  override async alarm(): Promise<void> {
    const { storage } = this.ctx;
    const againAt = await storage.get<number>(AGAIN_KEY);
    if (againAt !== undefined) await storage.setAlarm(againAt);
    await storage.delete(AGAIN_KEY);
    try {
      const owners = await listStreamOwners(this.env.DB);
      await notifyOwners(this.env.CLIENT_SESSION, owners, { access: 'changed' });
    } catch {
      if ((await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + FAILED_MS);
    }
  }
}
