/** Alarms that come late are spread, but what is wanted at once does not wait for them. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MonitorClock } from '../../../src/monitor/monitor-clock.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 10 * HOUR_MS }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The storage of a monitor whose alarm is set to a time. */
function stored(alarm: number | null) {
  const kept = new Map<string, unknown>();
  const held = { alarm };
  const storage = {
    get: async (key: string) => kept.get(key),
    put: async (key: string, value: unknown) => void kept.set(key, value),
    delete: async (key: string) => kept.delete(key),
    getAlarm: async () => held.alarm,
    setAlarm: async (at: number) => void (held.alarm = at),
    deleteAlarm: async () => void (held.alarm = null),
  } as unknown as DurableObjectStorage;
  return { held, clock: new MonitorClock(storage) };
}

it('[REG-2] what is wanted at once does not wait with an alarm that is an hour late', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.9);
  const now = Date.now();
  const { held, clock } = stored(now - HOUR_MS);
  await clock.want({ checkAt: now });
  const at = held.alarm ?? Number.NaN;
  held.alarm = null;
  expect(await clock.putsOff(at)).toBe(false);
  expect(await clock.take(Date.now())).toMatchObject({ check: true, discover: true });
});

it('[REG-2] what is wanted later leaves a late alarm as it is', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.9);
  const now = Date.now();
  const { held, clock } = stored(now - HOUR_MS);
  await clock.want({ checkAt: now + HOUR_MS });
  expect(held.alarm).toBe(now - HOUR_MS);
  held.alarm = null;
  expect(await clock.putsOff(now - HOUR_MS)).toBe(true);
  expect(held.alarm).toBe(now + 54_000);
});

it('[REG-2] an alarm that was set since a late one fired stays', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.9);
  const now = Date.now();
  const { held, clock } = stored(null);
  await clock.want({ checkAt: now + 1_000 });
  expect(await clock.putsOff(now - HOUR_MS)).toBe(true);
  expect(held.alarm).toBe(now + 1_000);
});
