/** AccessChanges: when open streams are notified that access changed. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';

const object = env.ACCESS_CHANGES.getByName('often');
const alarmAt = () => runInDurableObject(object, (_, { storage }) => storage.getAlarm());

it('[ACC-3] are notified of the first of many changes in time, and once more of the last', async () => {
  await object.changed();
  const first = await alarmAt();
  expect(first).not.toBeNull();
  for (let i = 0; i < 3; i += 1) {
    await scheduler.wait(5);
    await object.changed();
    expect(await alarmAt()).toBe(first);
  }
  expect(await runDurableObjectAlarm(object)).toBe(true);
  expect(await alarmAt()).toBeGreaterThan(first ?? Infinity);
  expect(await runDurableObjectAlarm(object)).toBe(true);
  expect(await alarmAt()).toBeNull();
});
