/** `budget.reached`: sent once a day for each budget, with its subject. */
import { evictDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { counterOf, groupName } from '../support/budgets.ts';
import { createPerson } from '../support/call-rows.ts';
import { createPortico, PATIENT } from '../support/portico.ts';
import {
  createReceiver,
  deliveriesOf,
  makeWebhook,
  WEBHOOKS,
  type Receiver,
  type Webhook,
} from '../support/webhooks.ts';

const portico = createPortico();
const limits = [{ name: 'day 2', perMinute: 0, burst: 2, isDaily: true as const }];
let receiver: Receiver;
let webhook: Webhook;

beforeEach(async () => {
  receiver = createReceiver();
  webhook = await makeWebhook(portico, 'watch', { events: ['budget.reached'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await portico.api('DELETE', `${WEBHOOKS}/${webhook.id}`);
});

/** Waiting calls draw from the budget. */
const draw = (kind: 'group' | 'principal', key: string, waiting: number) =>
  counterOf(kind, key).drawBudget(`budget:${kind}:${key}`, {
    id: crypto.randomUUID(),
    limits,
    waiting,
    ahead: 0,
  });
const told = async () => (await deliveriesOf(portico, webhook.id)).length;

it('[OPS-7] [ACC-6] is sent once a day, also when the object loses its memory', async () => {
  const group = groupName();
  await draw('group', group, 2);
  expect(await told()).toBe(0);
  await draw('group', group, 1);
  await vi.waitFor(async () => expect(await told()).toBe(1), PATIENT);
  await vi.waitFor(() => expect(receiver.got).toHaveLength(1), PATIENT);
  expect(receiver.got[0]?.body).toMatchObject({
    type: 'budget.reached',
    data: { group: { name: group }, calls_per_day: 2 },
  });
  await evictDurableObject(counterOf('group', group));
  await draw('group', group, 1);
  // The event of another budget came after it, so no second one was sent for this one.
  const { principalId } = await createPerson(portico);
  await draw('principal', principalId, 3);
  await vi.waitFor(async () => expect(await told()).toBe(2), PATIENT);
  await vi.waitFor(() => expect(receiver.got).toHaveLength(2), PATIENT);
  expect(receiver.got[1]?.body.data).toMatchObject({ principal: { id: principalId } });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
  await draw('group', group, 3);
  await vi.waitFor(async () => expect(await told()).toBe(3), PATIENT);
  const subjects = (await deliveriesOf(portico, webhook.id)).map(({ subject }) => subject);
  expect(subjects.toSorted()).toEqual([group, group, principalId].toSorted());
});
