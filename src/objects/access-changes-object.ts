/**
 * AccessChanges: one object for the deployment that tells open streams when callers may see other things than before. It notes
 * the news in storage first and tells by its alarm, so that a Worker that stops after a change loses nothing.
 *
 * Invariant: what changed while it tells is told once more.
 */
import { DurableObject } from 'cloudflare:workers';
import { configOf } from '../config.ts';
import { listStreamOwners } from '../sessions/notifications/stream-store.ts';
import { notifyOwners } from '../sessions/notifications/fan-out.ts';

/** Told this long after no isolate decides on what was before, in milliseconds. */
const MARGIN_MS = 50;

export class AccessChanges extends DurableObject<Env> {
  readonly #settleMs = configOf(this.env).listMaxAgeMs + MARGIN_MS;

  /** Rules, toolsets, groups, scopes or tokens are others now. */
  async changed(): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + this.#settleMs);
  }

  override async alarm(): Promise<void> {
    const owners = await listStreamOwners(this.env.DB);
    await notifyOwners(this.env.CLIENT_SESSION, owners, { access: 'changed' });
  }
}
