/** The Webhooks object is woken only for what it would send now. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { wakeIfDue } from '../../../src/webhooks/expect-events.ts';
import { createPortico } from '../support/portico.ts';
import { makeWebhook, WEBHOOKS, type Webhook } from '../support/webhooks.ts';

const portico = createPortico();
let webhook: Webhook;

/** Stores a pending delivery about one subject. */
const insertPending = (nextAt: number) =>
  env.DB.prepare(
    `INSERT INTO webhook_deliveries (webhook_id, type, subject, data, occurred_at, next_at, give_up_at)
     VALUES (?1, 'server.up', 'one', '{}', ?2, ?2, ?2)`,
  )
    .bind(webhook.id, nextAt)
    .run();

async function isWoken(): Promise<boolean> {
  const wake = vi.fn<() => Promise<void>>(async () => {});
  await wakeIfDue(env.DB, wake);
  return wake.mock.calls.length > 0;
}

beforeEach(async () => {
  webhook = await makeWebhook(portico, 'due');
});
afterEach(async () => {
  await portico.api('DELETE', `${WEBHOOKS}/${webhook.id}`);
});

it('[OPS-7] a due event wakes it, unless its webhook is disabled', async () => {
  expect(await isWoken()).toBe(false);
  await insertPending(Date.now());
  expect(await isWoken()).toBe(true);
  await env.DB.prepare('UPDATE webhooks SET is_enabled = 0 WHERE id = ?').bind(webhook.id).run();
  expect(await isWoken()).toBe(false);
});

it('[OPS-7] an event that waits for an earlier one of its subject does not wake it', async () => {
  await insertPending(Date.now() + 3_600_000);
  await insertPending(Date.now());
  expect(await isWoken()).toBe(false);
});
