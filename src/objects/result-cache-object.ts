/**
 * ResultCache: one shard of the result cache. Owns sealed results within its limits, and decides which of equal concurrent calls leads.
 * Named by the first digits of its keys, which are hashes.
 *
 * Invariants: it holds no encryption key and reads no result; the result it returns for a key was put under that key; the methods are
 * reachable only through the binding.
 */
import { DurableObject } from 'cloudflare:workers';
import { configOf } from '../config.ts';
import type { CacheShard, Entry, Taken } from '../gateway/cache/cache-port.ts';
import { SHARDS } from '../gateway/cache/cache-shards.ts';
import { EntryStore } from '../gateway/cache/entry-store.ts';
import { SingleFlight } from '../gateway/cache/single-flight.ts';

/** Minimum time between two sweeps of expired results, in milliseconds. */
const SWEEP_MS = 60_000;

export class ResultCache extends DurableObject<Env> implements CacheShard {
  readonly #config = configOf(this.env);
  readonly #entries = new EntryStore(
    this.ctx.storage.sql,
    Math.floor(this.#config.cache.maxBytes / SHARDS),
  );
  readonly #singleFlight = new SingleFlight({
    now: () => Date.now(),
    after: (ms, run) => setTimeout(run, ms),
    cancel: timer => clearTimeout((timer ?? null) as ReturnType<typeof setTimeout> | null),
  });
  #hasAlarm = false;

  async take(key: string, id: string, madeAfter: number, waitMs: number): Promise<Taken> {
    const entry = this.#entries.find(key, Date.now());
    if (entry && entry.madeAt > madeAfter) return { kind: 'entry', entry };
    return this.#singleFlight.join(key, id, waitMs);
  }

  async put(key: string, id: string, entry: Entry, expiresAt: number): Promise<void> {
    const now = Date.now();
    const isKept = expiresAt > now && this.#entries.put(key, entry, expiresAt, now);
    this.#singleFlight.land(key, id, entry);
    if (isKept && !this.#hasAlarm) await this.#wakeLater(expiresAt, now);
  }

  async release(key: string, id: string): Promise<void> {
    this.#singleFlight.land(key, id, undefined);
  }

  async leave(key: string, id: string): Promise<void> {
    this.#singleFlight.leave(key, id);
  }

  async renew(key: string, id: string): Promise<void> {
    this.#singleFlight.renew(key, id);
  }

  override async alarm(): Promise<void> {
    const now = Date.now();
    this.#entries.sweep(now);
    this.#hasAlarm = false;
    const next = this.#entries.nextExpiry();
    if (next !== undefined) await this.#wakeLater(next, now);
  }

  async #wakeLater(at: number, now: number): Promise<void> {
    this.#hasAlarm = true;
    if ((await this.ctx.storage.getAlarm()) !== null) return;
    await this.ctx.storage.setAlarm(Math.max(at, now + SWEEP_MS));
  }
}
