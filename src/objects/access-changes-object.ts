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

/** Streams are notified this long after the last isolate stopped using the old access data, in milliseconds. */
const MARGIN_MS = 50;

export class AccessChanges extends DurableObject<Env> {
  readonly #settleMs = configOf(this.env).listMaxAgeMs + MARGIN_MS;

  /** Access rules, toolsets, groups, scopes or tokens have changed. */
  async changed(): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + this.#settleMs);
  }

  override async alarm(): Promise<void> {
    const owners = await listStreamOwners(this.env.DB);
    await notifyOwners(this.env.CLIENT_SESSION, owners, { access: 'changed' });
  }
}
