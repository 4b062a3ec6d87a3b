/** Snapshots over the database, with a clock that only the tests move; notes what they read and when. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, vi } from 'vitest';
import { Snapshots, type SnapshotsOptions } from '../../../src/access/admission/snapshots.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { ADMIN } from './portico.ts';

const keys = createKeyRing(env.PORTICO_KEYS);
/** Statements of a read of the policy; one more if a session is read too. */
export const POLICY = 6;
/** Statements of a later read: budgets are not read again. */
export const REFRESH = 5;
export const SESSION = 1;

/** Only the tests of a file move the clock. */
export function stopTime(): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 2_000_000_000_000 }));
  afterEach(() => void vi.useRealTimers());
}

export const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

/** @returns snapshots, with the number of statements and rows of each read, and the deferred work. */
export function createSnapshots(more: Partial<SnapshotsOptions> = {}) {
  const reads: number[] = [];
  const rows: number[] = [];
  const deferred: Promise<unknown>[] = [];
  let held: Promise<unknown> | undefined;
  const db = {
    prepare: (sql: string) => env.DB.prepare(sql),
    async batch(statements: D1PreparedStatement[]) {
      reads.push(statements.length);
      await held;
      const results = await env.DB.batch(statements);
      rows.push(results.reduce((sum, { meta }) => sum + meta.rows_read, 0));
      return results;
    },
  } as unknown as D1Database;
  const options = { db, keys, adminToken: ADMIN, defaultAccess: 'open', maxAgeMs: 1_000 } as const;
  const snapshots = new Snapshots({ ...options, ...more });
  const load = (token = ADMIN, sessionId?: string, ...ages: number[]) =>
    snapshots.load(token, sessionId, work => void deferred.push(work), ...ages);
  /** Holds reads until they are released. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    held = promise;
    return () => {
      held = undefined;
      resolve(undefined);
    };
  };
  /** Waits until this many reads have begun. Vitest's own waits would move the clock. */
  const until = async (count: number) => {
    while (reads.length < count) await scheduler.wait(1);
  };
  /** Finishes all deferred work. @returns how much it was */
  const settle = async () => (await Promise.all(deferred.splice(0))).length;
  return { snapshots, load, reads, rows, hold, until, settle };
}

export const sql = (text: string, ...values: unknown[]) =>
  env.DB.prepare(text)
    .bind(...values)
    .run();
