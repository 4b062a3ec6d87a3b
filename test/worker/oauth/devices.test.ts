/**
 * A program on a machine without a browser shows a code (RFC 8628): a person types it elsewhere and allows it, and the polling program gets
 * its tokens. Any deviation gets nothing.
 */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_OF_CLIENT } from '../../../src/oauth/devices/device-store.ts';
import {
  createDeviceStand,
  DEVICE_GRANT,
  handleOf,
  LOOPBACK,
  type DeviceStand,
  type Shown,
} from '../support/devices.ts';
import { pass } from '../support/clock.ts';
import { createPortico, ORIGIN } from '../support/portico.ts';
import { createClient, errorOf, refresh, send, type TokenAnswer } from '../support/oauth-client.ts';

const portico = createPortico();
let stand: DeviceStand;

beforeEach(async () => {
  stand = await createDeviceStand(portico);
});
afterEach(() => {
  vi.useRealTimers();
});

/** Polls once after the required interval. */
async function pollLater(code: string): Promise<Response> {
  pass(5_000);
  return stand.poll(code);
}

describe('a program that shows a code', () => {
  it('[ACC-5] finds the endpoint in the metadata, and gets the texts to show', async () => {
    const metadata = await portico.fetch('/.well-known/oauth-authorization-server');
    expect(await metadata.json()).toMatchObject({
      device_authorization_endpoint: `${ORIGIN}/device_authorization`,
      grant_types_supported: expect.arrayContaining([DEVICE_GRANT]),
    });
    const answer = await stand.begin({ resource: `${ORIGIN}/mcp` });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const shown = await answer.json<Shown>();
    expect(shown.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(shown).toEqual({
      device_code: expect.stringMatching(/^portico_device_code_[\w-]{43}$/),
      user_code: shown.user_code,
      verification_uri: `${ORIGIN}/device`,
      verification_uri_complete: `${ORIGIN}/device?user_code=${shown.user_code}`,
      expires_in: 600,
      interval: 5,
    });
  });

  it('[ACC-5] [ACC-7] is authorized: code, sign-in, consent, tokens, call', async () => {
    const shown = await stand.show({
      resource: `${ORIGIN}/mcp`,
      scope: 'tools:read tools:call admin',
    });
    expect(await errorOf(await stand.poll(shown.device_code))).toEqual([
      400,
      'authorization_pending',
    ]);
    const path = shown.verification_uri_complete.slice(ORIGIN.length);
    const stranger = await portico.fetch(path);
    expect([stranger.status, stranger.headers.get('location')]).toEqual([
      303,
      `/sign-in?${new URLSearchParams({ return: path })}`,
    ]);
    const filled = await (await stand.browser.get(path)).text();
    expect(filled).toContain(`value="${shown.user_code}"`);
    expect(filled).toContain('Go on only if you have just started this yourself');
    expect(filled).not.toContain('name="handle"');
    const page = await (await stand.type(shown.user_code.toLowerCase().replace('-', ' '))).text();
    expect(page).toContain('A &lt;b&gt;program&lt;/b&gt;');
    expect(page).toContain(shown.user_code);
    expect(page).toContain('Go on only if you have just started this yourself');
    expect(page).not.toContain('Administer everything');
    expect((await stand.decide(handleOf(page), 'allow')).status).toBe(200);
    const given = await pollLater(shown.device_code);
    expect([given.status, given.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const tokens = await given.json<TokenAnswer>();
    expect(tokens).toMatchObject({ expires_in: 3600, scope: 'tools:read tools:call' });
    expect((await send(portico, tokens.access_token)).status).toBe(200);
    expect((await refresh(portico, stand.clientId, tokens.refresh_token)).status).toBe(200);
    const { results } = await env.DB.prepare(
      'SELECT (SELECT count(*) FROM oauth_devices) AS n, * FROM oauth_grants, audit_events, oauth_requests',
    ).all();
    for (const secret of [shown.device_code, shown.user_code, handleOf(page)]) {
      expect(JSON.stringify(results)).not.toContain(secret);
    }
    const audit = await env.DB.prepare(
      "SELECT count(*) AS n FROM audit_events WHERE action = 'grant.create' AND detail LIKE '%device code%'",
    ).first<number>('n');
    expect(audit).toBeGreaterThan(0);
  });

  it('[ACC-5] needs consent each time', async () => {
    await stand.letIn((await stand.show()).user_code);
    const page = await (await stand.type((await stand.show()).user_code)).text();
    expect(handleOf(page)).not.toBe('');
    const remembered = await env.DB.prepare(
      'SELECT count(*) AS n FROM oauth_consents WHERE client_id = ?',
    )
      .bind(stand.clientId)
      .first<number>('n');
    expect(remembered).toBe(0);
  });

  it('[ACC-5] learns that it was refused, also when it polls again', async () => {
    const { device_code: code, user_code: userCode } = await stand.show();
    const [first, second] = [
      await (await stand.type(userCode)).text(),
      await (await stand.type(userCode)).text(),
    ];
    expect(await (await stand.decide(handleOf(first), 'deny')).text()).toContain('Not allowed');
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'access_denied']);
    expect((await stand.decide(handleOf(second), 'allow')).status).toBe(403);
    expect((await stand.type(userCode)).status).toBe(400);
    expect(await errorOf(await pollLater(code))).toEqual([400, 'access_denied']);
  });

  it('[ACC-5] is told to poll more slowly, and loses nothing by it', async () => {
    const { device_code: code, user_code: userCode } = await stand.show();
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'authorization_pending']);
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'slow_down']);
    pass(3_900);
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'slow_down']);
    pass(200);
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'authorization_pending']);
    await stand.letIn(userCode);
    expect((await stand.poll(code)).status).toBe(200);
  });

  it('[ACC-5] that waits for too long gets nothing, even if it is allowed later', async () => {
    const { device_code: code, user_code: userCode } = await stand.show();
    const page = await (await stand.type(userCode)).text();
    pass(600_001);
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'expired_token']);
    expect((await stand.type(userCode)).status).toBe(400);
    expect((await stand.decide(handleOf(page), 'allow')).status).toBe(400);
    await stand.show();
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'expired_token']);
  });

  it('[ACC-5] that does not fetch its tokens in time gets nothing later', async () => {
    const { device_code: code, user_code: userCode } = await stand.show();
    await stand.letIn(userCode);
    pass(120_001);
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'expired_token']);
  });

  it('[ACC-5] gets tokens once of ten polls at the same moment; a second time ends the grant', async () => {
    const { device_code: code, user_code: userCode } = await stand.show();
    await stand.letIn(userCode);
    const tokens = await (await stand.poll(code)).json<TokenAnswer>();
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'invalid_grant']);
    expect((await send(portico, tokens.access_token)).status).toBe(401);
    const other = await stand.show();
    await stand.letIn(other.user_code);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => stand.poll(other.device_code)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  it('[ACC-5] has a code that only its own client can use', async () => {
    const other = await createClient(undefined, [LOOPBACK]);
    const { device_code: code, user_code: userCode } = await stand.show({
      resource: `${ORIGIN}/mcp`,
    });
    const asOther = { client_id: other };
    expect(await errorOf(await stand.poll(code, asOther))).toEqual([400, 'invalid_grant']);
    // The other client's poll did not count as one of the waiting client.
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'authorization_pending']);
    await stand.letIn(userCode);
    expect(await errorOf(await stand.poll(code, asOther))).toEqual([400, 'invalid_grant']);
    expect(await errorOf(await stand.poll(code, { resource: ORIGIN }))).toEqual([
      400,
      'invalid_target',
    ]);
    expect((await stand.poll(code, { resource: `${ORIGIN}/mcp/servers/one` })).status).toBe(200);
  });

  it('[ACC-5] cannot be a web program or one with a document, whose name a stranger could use', async () => {
    const web = await createClient();
    const both = await createClient(undefined, [LOOPBACK, 'https://program.example.com/']);
    const document = await createClient('https://program.example.com/client.json', [LOOPBACK]);
    await env.DB.prepare("UPDATE oauth_clients SET kind = 'document', fresh_until = ? WHERE id = ?")
      .bind(Date.now() + 600_000, document)
      .run();
    for (const id of [web, both, document]) {
      expect(await errorOf(await stand.begin({ client_id: id }))).toEqual([
        400,
        'unauthorized_client',
      ]);
    }
    const { user_code: userCode } = await stand.show();
    await env.DB.prepare('UPDATE oauth_clients SET redirect_uris = ? WHERE id = ?')
      .bind('["https://program.example.com/"]', stand.clientId)
      .run();
    expect((await stand.type(userCode)).status).toBe(400);
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['as an unknown client', { client_id: 'nobody' }, 401, 'invalid_client'],
    ['for scopes that there are not', { scope: 'everything' }, 400, 'invalid_scope'],
    ['for another gateway', { resource: 'https://other.example.com/mcp' }, 400, 'invalid_target'],
  ])('[ACC-5] that asks %s is refused', async (_what, more, status, error) => {
    expect(await errorOf(await stand.begin(more))).toEqual([status, error]);
  });

  it('[ACC-5] may ask thirty times a minute from one address', async () => {
    const from = (address: string) =>
      portico.fetch('/device_authorization', {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'cf-connecting-ip': address,
        },
        body: String(new URLSearchParams({ client_id: stand.clientId })),
      });
    pass(0);
    for (let asked = 0; asked < 30; asked += 1) expect((await from('192.0.2.1')).status).toBe(200);
    expect(await errorOf(await from('192.0.2.1'))).toEqual([429, 'slow_down']);
    expect((await from('192.0.2.2')).status).toBe(200);
    expect(await stand.waiting()).toBe(MAX_OF_CLIENT);
  });

  it('[ACC-5] ends with its client', async () => {
    const { device_code: code } = await stand.show();
    await env.DB.prepare('DELETE FROM oauth_clients WHERE id = ?').bind(stand.clientId).run();
    expect(await stand.waiting()).toBe(0);
    expect(await errorOf(await stand.poll(code))).toEqual([401, 'invalid_client']);
  });
});
