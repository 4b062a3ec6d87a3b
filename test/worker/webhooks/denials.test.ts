/** `denials.rate`: a principal is denied more calls within ten minutes than a webhook's threshold, counted as calls are added up. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPortico, PATIENT } from '../support/portico.ts';
import { beginningOf, createPerson, logOf } from '../support/call-rows.ts';
import { insertOld, toCall } from '../support/chunks.ts';
import {
  alarmAt,
  createReceiver,
  deliveriesOf,
  makeWebhook,
  ring,
  WEBHOOKS,
  webhooksObject,
  type Receiver,
  type Webhook,
} from '../support/webhooks.ts';

const portico = createPortico();
let receiver: Receiver;
let webhook: Webhook;
let principal: string;

/** Adds up denied calls of a principal for one tool. */
async function addDenied(denied: number, tool: string, principalId = principal): Promise<void> {
  const sums = `calls, errors, denied, cancelled, unknown, cached, argument_chars, result_chars, timed, ms, max_ms, to_100, to_250,
    to_500, to_1000, to_2500, to_5000, to_10000, to_30000`;
  const zeros = sums.split(',').map(name => (name.trim() === 'denied' ? '?3' : '0'));
  await env.DB.prepare(
    `INSERT INTO usage (day, principal_id, token_id, action, server_id, tool, server, ${sums})
     VALUES ('2026-11-02', ?1, '', 'tool.call', '', ?2, '', ${zeros.join(', ')})
     ON CONFLICT (day, principal_id, token_id, action, server_id, tool) DO UPDATE SET denied = denied + excluded.denied`,
  )
    .bind(principalId, tool, denied)
    .run();
}

const countsOf = async () =>
  (await env.DB.prepare('SELECT * FROM webhook_denied_minutes').all()).results;

/** Counts and events are as if made this much sooner. */
async function pass(minutes: number): Promise<void> {
  await env.DB.batch(
    [
      'UPDATE webhook_denied_minutes SET minute = minute - ?',
      `UPDATE webhook_deliveries SET cause = 'denied ' || subject || ' ' || (replace(cause, 'denied ' || subject || ' ', '') - ?)
       WHERE type = 'denials.rate'`,
    ].map(sql => env.DB.prepare(sql).bind(minutes)),
  );
}

beforeEach(async () => {
  receiver = createReceiver();
  const made = await portico.api('POST', '/api/v1/principals', { name: 'mallory' });
  principal = (await made.json<{ id: string }>()).id;
  webhook = await makeWebhook(portico, 'watch', { events: ['denials.rate'], denials_over: 10 });
});
afterEach(async () => {
  await portico.api('DELETE', `${WEBHOOKS}/${webhook.id}`);
  await env.DB.batch([
    env.DB.prepare('DELETE FROM webhook_denied_minutes'),
    env.DB.prepare('DELETE FROM usage'),
  ]);
});

it('[OPS-7] is sent once for many denied calls, whichever tools they were for', async () => {
  await addDenied(6, 'one');
  await addDenied(4, 'two');
  await addDenied(10, 'one', 'somebody-else');
  expect(await deliveriesOf(portico, webhook.id)).toEqual([]);
  await addDenied(3, 'two');
  await addDenied(30, 'two');
  await webhooksObject().wake();
  await vi.waitFor(async () => {
    await ring();
    expect(receiver.got.map(({ body }) => body)).toMatchObject([
      {
        type: 'denials.rate',
        data: { principal: { id: principal, name: 'mallory' }, denied: 13, minutes: 10 },
      },
    ]);
  }, PATIENT);
});

it('[OPS-7] counts the calls of any ten minutes together, and tells of them once', async () => {
  const told = async () => {
    const sql = `SELECT data ->> 'denied' AS denied FROM webhook_deliveries WHERE webhook_id = ?`;
    const { results } = await env.DB.prepare(sql).bind(webhook.id).all();
    return results.map(({ denied }) => denied);
  };
  await addDenied(9, 'one');
  await pass(7);
  expect(await told()).toEqual([]);
  await addDenied(9, 'one');
  await pass(5);
  await addDenied(9, 'one');
  expect(await told()).toEqual([18]);
  await pass(8);
  await addDenied(9, 'one');
  expect(await told()).toEqual([18, 18]);
});

it('[OPS-7] does not count calls that were denied more than ten minutes before', async () => {
  await addDenied(9, 'one');
  await pass(10);
  await addDenied(9, 'one');
  expect(await countsOf()).toMatchObject([{ principal_id: principal, denied: 9 }]);
  expect(await deliveriesOf(portico, webhook.id)).toEqual([]);
});

it('[OPS-7] counts nothing without a webhook for it', async () => {
  await portico.api('PATCH', `${WEBHOOKS}/${webhook.id}`, { events: ['server.down'] });
  await addDenied(100, 'one');
  expect(await countsOf()).toEqual([]);
});

it('[OPS-7] is sent for denied calls, once they are added up', async () => {
  const at = Date.now() - 3_600_000;
  const denied = { principalId: principal, outcome: 'denied', code: 'tool_not_found' } as const;
  const calls = Array.from({ length: 11 }, (_, n) => toCall(at + n, { ...denied, detail: {} }));
  await insertOld(at + 1_000, calls);
  await env.CALL_CHAIN.getByName('all').addUp();
  await vi.waitFor(
    () => expect(receiver.got.map(({ body }) => body.data)).toMatchObject([{ denied: 11 }]),
    PATIENT,
  );
});

it('[OPS-7] is also sent if calls are recorded before they are sent', async () => {
  const before = createPortico({ PORTICO_AUDIT_CALLS: 'before' });
  const made = await before.api('POST', '/api/v1/tokens', { name: 'm', principal_id: principal });
  const { token } = await made.json<{ token: string }>();
  for (let n = 0; n < 11; n += 1) {
    const call = await before.api('POST', '/api/v1/tools/call', { name: 'no.tool' }, { token });
    expect(call.status).toBe(404);
  }
  await vi.waitFor(
    () => expect(receiver.got.map(({ body }) => body.data)).toMatchObject([{ denied: 11 }]),
    PATIENT,
  );
});

it('[OPS-7] [ACC-6] wakes the delivery also if the rows were read before their alarm', async () => {
  const person = await createPerson(portico);
  await ring();
  expect(Number(await alarmAt()) - Date.now()).toBeGreaterThan(60_000);
  const refused = { outcome: 'denied', code: 'forbidden', detail: {} } as const;
  for (let calls = 0; calls < 11; calls += 1) {
    await logOf(person).begin(beginningOf(person, crypto.randomUUID(), { refused }));
  }
  await logOf(person).keep(person.shard);
  expect(await deliveriesOf(portico, webhook.id)).toMatchObject([{ type: 'denials.rate' }]);
  await vi.waitFor(() => expect(receiver.got).toHaveLength(1), PATIENT);
});
