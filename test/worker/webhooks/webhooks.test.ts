/** Webhooks as administrators see them: what is shown and what never is, the secret, the test event. */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it } from 'vitest';
import { AdminAudit } from '../../../src/audit/admin-audit.ts';
import { listChain } from '../../../src/audit/audit-store.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { CreateWebhookSchema } from '../../../src/webhooks/webhook-schema.ts';
import { createWebhooks } from '../../../src/webhooks/webhook-service.ts';
import { createPortico } from '../support/portico.ts';
import { createReceiver, makeWebhook, RECEIVER, WEBHOOKS } from '../support/webhooks.ts';

const portico = createPortico();
const get = async (path: string) => (await portico.api('GET', `${WEBHOOKS}${path}`)).json();
const problemOf = async (response: Response) => {
  const { code, detail } = await response.json<{ code: string; detail: string }>();
  return [response.status, code, detail];
};

afterEach(async () => {
  const { webhooks } = (await get('')) as { webhooks: { id: string }[] };
  for (const { id } of webhooks) await portico.api('DELETE', `${WEBHOOKS}/${id}`);
});

describe('a webhook', () => {
  it('[OPS-7] [SEC-1] shows its secret once and the rest of its URL never, to anybody', async () => {
    const { id, secret } = await makeWebhook(portico, 'shown');
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await get(`/${id}`)).toMatchObject({
      name: 'shown',
      origin: RECEIVER,
      format: 'portico',
      events: [
        'tool.held',
        'server.down',
        'server.auth_required',
        'server.up',
        'sign_in',
        'denials.rate',
        'budget.reached',
      ],
      denials_over: 20,
      enabled: true,
      revision: 1,
    });
    await portico.api('POST', `${WEBHOOKS}/shown/rotate`);
    await portico.api('PATCH', `${WEBHOOKS}/${id}`, { url: `${RECEIVER}/canary-other` });
    const rows = await env.DB.prepare('SELECT * FROM webhooks').all();
    const seen = JSON.stringify([
      await get(''),
      await get('/shown'),
      rows.results,
      await listChain(env.DB, 'admin', 1, 10_000),
    ]);
    expect(seen).not.toContain('canary');
    expect(seen).not.toContain(secret.slice('whsec_'.length));
  });

  it('[OPS-7] is created with its secret, also if its object cannot be reached', async () => {
    const webhooks = createWebhooks({
      db: env.DB,
      keys: createKeyRing(env.PORTICO_KEYS),
      adminAudit: new AdminAudit(env.DB),
      allowsLoopback: false,
      wakeWebhooks: () => Promise.reject(new Error('the object was reset')),
    });
    const administrator = { principalId: 'a', tokenId: 'a', scopes: new Set(['admin'] as const) };
    const body = CreateWebhookSchema.parse({ name: 'made', url: `${RECEIVER}/made` });
    const { webhook, secret } = await webhooks.create(administrator, body);
    expect([webhook.name, secret.slice(0, 6)]).toEqual(['made', 'whsec_']);
  });

  it.each([
    ['http://hooks.example.com/', 'use https'],
    ['https://127.0.0.2/', 'use a host name'],
    ['https://user:pass@hooks.example.com/', 'credentials'],
    ['https://hooks.internal/', 'public name'],
  ])('[SEC-3] sends to no address that servers may not have: %s', async (url, why) => {
    const response = await portico.api('POST', WEBHOOKS, { name: 'bad', url });
    expect(await problemOf(response)).toEqual([
      422,
      'validation_failed',
      expect.stringContaining(why),
    ]);
  });

  it('[OPS-7] has a unique name, and there are twenty at most', async () => {
    await makeWebhook(portico, 'same');
    const again = await portico.api('POST', WEBHOOKS, { name: 'SAME', url: RECEIVER });
    expect(await problemOf(again)).toEqual([409, 'conflict', expect.any(String)]);
    for (let n = 1; n < 20; n += 1) await makeWebhook(portico, `many-${n}`);
    const more = await portico.api('POST', WEBHOOKS, { name: 'more', url: RECEIVER });
    expect(await problemOf(more)).toEqual([409, 'conflict', expect.any(String)]);
    const renamed = await portico.api('PATCH', `${WEBHOOKS}/many-1`, { name: 'many-2' });
    expect(await problemOf(renamed)).toEqual([409, 'conflict', expect.any(String)]);
  });

  it('[OPS-7] can be tested at once, and reports the outcome', async () => {
    const receiver = createReceiver();
    const { id } = await makeWebhook(portico, 'tried');
    const test = async () => (await portico.api('POST', `${WEBHOOKS}/tried/test`)).json();
    expect(await test()).toEqual({ delivered: true, status: 204, problem: null });
    expect(receiver.got[0]?.body).toMatchObject({
      type: 'webhook.test',
      data: { webhook: { id, name: 'tried' } },
    });
    receiver.refuse = () => new Response('canary', { status: 500 });
    expect(await test()).toEqual({ delivered: false, status: 500, problem: 'it answered 500' });
  });

  it('[OPS-7] signs with both secrets for a day after a rotation', async () => {
    const receiver = createReceiver();
    await makeWebhook(portico, 'rotated');
    const signatures = async () => {
      await portico.api('POST', `${WEBHOOKS}/rotated/test`);
      return receiver.got.at(-1)?.headers.get('webhook-signature')?.split(' ') ?? [];
    };
    expect(await signatures()).toHaveLength(1);
    const rotated = await portico.api('POST', `${WEBHOOKS}/rotated/rotate`);
    expect(rotated.status).toBe(200);
    const both = await signatures();
    expect(both.map(one => one.slice(0, 3))).toEqual(['v1,', 'v1,']);
    expect(new Set(both).size).toBe(2);
  });

  it('[OPS-7] for Slack sends a message', async () => {
    const receiver = createReceiver();
    await makeWebhook(portico, 'slack', { format: 'slack' });
    await portico.api('POST', `${WEBHOOKS}/slack/test`);
    expect(receiver.got[0]?.body).toMatchObject({ text: 'Portico: This is a test.' });
  });

  it('[SEC-1] has its secret under the active key after a rotation of keys', async () => {
    const { id } = await makeWebhook(portico, 'sealed');
    const sealed = async () =>
      (
        await env.DB.prepare('SELECT sealed FROM webhooks WHERE id = ?')
          .bind(id)
          .first<{ sealed: string }>()
      )?.sealed ?? '';
    const before = await sealed();
    expect(before).toMatch(/^1:k1\./);
    const ring = JSON.stringify({
      active: 'k2',
      keys: { k1: btoa('\u0001'.repeat(32)), k2: btoa('\u0002'.repeat(32)) },
    });
    const other = createPortico({ PORTICO_KEYS: ring });
    const rotated = await other.api('POST', '/api/v1/keys/rotate', { limit: 200 });
    expect([rotated.status, await rotated.json()]).toMatchObject([
      200,
      { unreadable: 0, remaining: 0 },
    ]);
    expect(await sealed()).toMatch(/^1:k2\./);
    const receiver = createReceiver();
    await other.api('POST', `${WEBHOOKS}/sealed/test`);
    expect(receiver.got).toHaveLength(1);
  });
});
