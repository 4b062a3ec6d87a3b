/** Check cycles of a server's monitor that slept before, as on Cloudflare, with their cost: by the meters of `npm run bench:edge`. */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { vi } from 'vitest';
import { Ledger } from '../../../bench/edge/worker/ledger.ts';
import { meterEnv } from '../../../bench/edge/worker/metered-env.ts';
import { ServerMonitor } from '../../../src/objects/server-monitor-object.ts';
import { monitorOf } from './portico.ts';

/** Settings as on Cloudflare; the other settings of the tests are those of one machine. */
const ASLEEP = { PORTICO_CHANGE_STREAMS: 'polled', PORTICO_QUIET_INTERVAL_MS: '300000' };

/** Reset by each cycle. */
const ledger = new Ledger();

export interface Round {
  /** Rows that the object wrote: values, alarms and rows of its own tables. */
  objectRows: number;
  d1Written: number;
  d1Read: number;
  kv: number;
  /** Until the next cycle. */
  inMs: number;
}

/** Runs something in a monitor of this server without memory, with its storage only. */
export function whileAwake<T>(
  id: string,
  act: (monitor: ServerMonitor, storage: DurableObjectStorage) => Promise<T>,
): Promise<T> {
  return runInDurableObject(monitorOf(id), (_, state) =>
    act(new ServerMonitor(state, meterEnv({ ...env, ...ASLEEP } as Env, ledger)), state.storage),
  );
}

/** Runs the next check cycle now. */
export function sleptRound(id: string): Promise<Round> {
  return whileAwake(id, async (monitor, storage) => {
    // An alarm that fired is deleted.
    await storage.deleteAlarm();
    ledger.reset();
    const { counts } = ledger;
    const spies = [
      vi.spyOn(storage, 'put'),
      vi.spyOn(storage, 'delete'),
      vi.spyOn(storage, 'setAlarm'),
      vi.spyOn(storage.kv, 'put'),
      vi.spyOn(storage.kv, 'delete'),
    ];
    const sql = vi.spyOn(storage.sql, 'exec');
    try {
      await monitor.alarm();
      // The work after a cycle has nothing to do either.
      await scheduler.wait(50);
      const values = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
      const rows = sql.mock.results.reduce(
        (sum, { value }) => sum + (value as SqlStorageCursor<never>).rowsWritten,
        0,
      );
      return {
        objectRows: values + rows,
        d1Written: counts['d1.rowsWritten'] ?? 0,
        d1Read: counts['d1.rowsRead'] ?? 0,
        kv: (counts['kv.reads'] ?? 0) + (counts['kv.writes'] ?? 0),
        inMs: ((await storage.getAlarm()) ?? Infinity) - Date.now(),
      };
    } finally {
      for (const spy of [...spies, sql]) spy.mockRestore();
    }
  });
}

/** Makes it look as if nothing had happened at the server for this long. */
export function makeQuiet(id: string, ms: number): Promise<void> {
  return runInDurableObject(monitorOf(id), async (_, { storage }) => {
    const health = await storage.get<{ eventAt: number }>('health');
    await storage.put('health', { ...health, eventAt: Date.now() - ms });
  });
}
