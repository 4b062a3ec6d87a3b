/** AccessChanges: when open streams are notified that access changed. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';

const object = env.ACCESS_CHANGES.getByName('often');
const alarmAt = () => runInDurableObject(object, (_, { storage }) => storage.getAlarm());

it('[ACC-3] are notified of the first of many changes in time, and once more of the last', async () => {
  // So far ahead that no alarm comes by itself.
  const start = Date.now() + 3_600_000;
  const clock = vi.spyOn(Date, 'now').mockReturnValue(start);
  await object.changed();
  const first = await alarmAt();
  expect(first).not.toBeNull();
  for (let i = 1; i <= 3; i += 1) {
    clock.mockReturnValue(start + i);
    await object.changed();
    expect(await alarmAt()).toBe(first);
  }
  expect(await runDurableObjectAlarm(object)).toBe(true);
  expect(await alarmAt()).toBe((first ?? 0) + 3);
  expect(await runDurableObjectAlarm(object)).toBe(true);
  expect(await alarmAt()).toBeNull();
});
