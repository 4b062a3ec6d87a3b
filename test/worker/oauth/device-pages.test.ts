/** Device codes are typed by people: unknown codes and forged decisions have no effect, and guessing is bounded. */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_TRIES } from '../../../src/oauth/devices/device-store.ts';
import {
  createDeviceStand,
  DEVICE_GRANT,
  handleOf,
  LOOPBACK,
  type DeviceStand,
} from '../support/devices.ts';
import { pass } from '../support/clock.ts';
import { createPortico, createToken, ORIGIN } from '../support/portico.ts';
import { allow, askForTokens, authorizePath, errorOf, signIn } from '../support/oauth-client.ts';

const portico = createPortico();
let stand: DeviceStand;

beforeEach(async () => {
  stand = await createDeviceStand(portico);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('codes of two kinds', () => {
  it('[ACC-5] are not interchangeable', async () => {
    const shown = await stand.show();
    await stand.letIn(shown.user_code);
    const asCode = (code: string) =>
      askForTokens(portico, {
        grant_type: 'authorization_code',
        client_id: stand.clientId,
        code,
        code_verifier: 'x'.repeat(43),
      });
    const bare = shown.device_code.replace('device_code', 'code');
    for (const code of [shown.device_code, bare]) {
      expect(await errorOf(await asCode(code))).toEqual([400, 'invalid_grant']);
    }
    const redirect = { redirect_uri: 'http://127.0.0.1:5000/callback' };
    const answer = await allow(stand.browser, authorizePath(stand.clientId, redirect));
    const code = answer.get('code') ?? '';
    for (const text of [code, code.replace('code', 'device_code')]) {
      expect((await errorOf(await stand.poll(text)))[0]).toBe(400);
    }
    expect((await stand.poll(shown.device_code)).status).toBe(200);
  });

  it('[ACC-5] are not interchangeable, even if they had the same HMAC', async () => {
    const shown = await stand.show();
    await stand.letIn(shown.user_code);
    await env.DB.prepare(
      'UPDATE oauth_grants SET code_challenge = ?, redirect_uri = ? WHERE client_id = ?',
    )
      .bind('x'.repeat(43), LOOPBACK, stand.clientId)
      .run();
    expect(await errorOf(await stand.poll(shown.device_code))).toEqual([400, 'invalid_grant']);
    const redirect = { redirect_uri: 'http://127.0.0.1:5000/callback' };
    const code =
      (await allow(stand.browser, authorizePath(stand.clientId, redirect))).get('code') ?? '';
    await env.DB.prepare('UPDATE oauth_grants SET code_challenge = NULL WHERE client_id = ?')
      .bind(stand.clientId)
      .run();
    const used = await askForTokens(portico, {
      grant_type: 'authorization_code',
      client_id: stand.clientId,
      code,
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    });
    expect(await errorOf(used)).toEqual([400, 'invalid_grant']);
  });

  it('[ACC-5] are not interchangeable in the forms of their pages either', async () => {
    const page = await (await stand.type((await stand.show()).user_code)).text();
    const fields = { handle: handleOf(page), decision: 'allow' };
    expect((await stand.browser.post('/authorize', fields)).status).toBe(400);
    const redirect = { redirect_uri: 'http://127.0.0.1:5000/callback' };
    const other = await (await stand.browser.get(authorizePath(stand.clientId, redirect))).text();
    expect((await stand.decide(handleOf(other), 'allow')).status).toBe(400);
    expect((await stand.decide(handleOf(page), 'allow')).status).toBe(200);
  });
});

describe('a person', () => {
  it('[ACC-7] who had to sign in continues with the code', async () => {
    const { verification_uri_complete: address } = await stand.show();
    const path = address.slice(ORIGIN.length);
    const signedIn = await stand.browser.get(`/sign-in?${new URLSearchParams({ return: path })}`);
    expect(signedIn.headers.get('refresh')).toBe(`0; url=${path}`);
  });

  it('[ACC-5] [SEC-5] may try ten codes in ten minutes, in any number of browsers', async () => {
    const { user_code: userCode } = await stand.show();
    const again = await signIn(portico, stand.token);
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const answer = await stand.type('BCDF-GHJK', tries % 2 === 0 ? again : stand.browser);
      expect(answer.status).toBe(400);
    }
    expect((await stand.type(userCode)).status).toBe(429);
    expect((await stand.type(userCode, again)).status).toBe(429);
    const other = await signIn(portico, (await createToken(portico)).token);
    expect((await stand.type(userCode, other)).status).toBe(200);
    pass(599_000);
    expect((await stand.type((await stand.show()).user_code)).status).toBe(429);
    pass(1_001);
    expect((await stand.type((await stand.show()).user_code)).status).toBe(200);
  });

  it('[ACC-5] may try ten codes, of ten tries at the same moment and of twenty', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => stand.type('BCDF-GHJK')));
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(MAX_TRIES);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20 - MAX_TRIES);
  });

  it.each(['', 'x', 'BCDF-GHJ', 'BCDF-GHJKL', 'ABCD-EFGH', 'BCDF-GHJ1', '%', 'é'.repeat(200)])(
    '[ACC-5] who types an invalid code (%#) sees the page again',
    async text => {
      const answer = await stand.type(text);
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining('No program waits with this code'),
      ]);
    },
  );

  it('[ACC-5] [SEC-5] decides nothing by a form of another page, person or time', async () => {
    const { device_code: code, user_code: userCode } = await stand.show();
    const other = await signIn(portico, (await createToken(portico)).token);
    const handle = handleOf(await (await stand.type(userCode)).text());
    const evil = { origin: 'https://evil.example.com' };
    for (const fields of [{ handle, decision: 'allow' }, { user_code: userCode }]) {
      expect((await stand.browser.post('/device', fields, evil)).status).toBe(403);
    }
    expect((await stand.decide(handle, 'allow', other)).status).toBe(400);
    const bare = await portico.fetch('/device', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        cookie: stand.browser.cookie,
      },
      body: String(new URLSearchParams({ handle, decision: 'allow' })),
    });
    expect(bare.status).toBe(403);
    const nobody = await portico.fetch('/device', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN },
      body: String(new URLSearchParams({ handle, decision: 'allow' })),
    });
    expect([nobody.status, nobody.headers.get('location')]).toEqual([
      303,
      `/sign-in?${new URLSearchParams({ return: '/device' })}`,
    ]);
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'authorization_pending']);
    expect((await stand.decide(handle, 'allow')).status).toBe(200);
    expect((await stand.decide(handle, 'allow')).status).toBe(400);
  });

  it('[ACC-5] grants their own rights, with the limits of their token, and nothing if they have none', async () => {
    const { token: narrow, id } = await createToken(portico, { tools: ['*.get_*'] });
    const narrowed = await signIn(portico, narrow);
    const { user_code: userCode } = await stand.show();
    await stand.letIn(userCode, narrowed);
    const row = await env.DB.prepare('SELECT tools FROM oauth_grants WHERE token_id = ?')
      .bind(id)
      .first<{ tools: string }>();
    expect(row?.tools).toBe('["*.get_*"]');
    const answer = await stand.type((await stand.show({ scope: 'admin' })).user_code);
    expect(answer.status).toBe(403);
  });

  it('[ACC-5] whose token ended while they were asked allows nothing', async () => {
    const { token: value, id } = await createToken(portico);
    const by = await signIn(portico, value);
    const { device_code: code, user_code: userCode } = await stand.show();
    const handle = handleOf(await (await stand.type(userCode, by)).text());
    await portico.api('DELETE', `/api/v1/tokens/${id}`);
    expect((await stand.decide(handle, 'allow', by)).status).toBe(303);
    expect(await errorOf(await stand.poll(code))).toEqual([400, 'authorization_pending']);
  });
});

it('[ACC-5] a program that registers learns whether it may use device codes', async () => {
  const register = async (uri: string, grants: string[]) => {
    const answer = await portico.fetch('/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Self-made',
        redirect_uris: [uri],
        grant_types: grants,
        token_endpoint_auth_method: 'none',
      }),
    });
    return answer.json<{ client_id: string; grant_types: string[] }>();
  };
  const codes = ['authorization_code', 'refresh_token'];
  const made = await register(LOOPBACK, [...codes, DEVICE_GRANT]);
  expect(made.grant_types).toEqual([...codes, DEVICE_GRANT]);
  expect((await register(LOOPBACK, codes)).grant_types).toEqual(codes);
  expect((await register('https://a.example.com/', [...codes, DEVICE_GRANT])).grant_types).toEqual(
    codes,
  );
  const { user_code: userCode } = await stand.show({ client_id: made.client_id });
  expect(await (await stand.type(userCode)).text()).toContain('nobody checked that');
});

it('[OPS-4] a database of the former version has no device codes, and everything else works', async () => {
  await env.DB.exec('DROP TABLE oauth_devices');
  expect(await errorOf(await stand.begin())).toEqual([503, 'temporarily_unavailable']);
  expect(await errorOf(await stand.poll(`portico_device_code_${'x'.repeat(43)}`))).toEqual([
    503,
    'temporarily_unavailable',
  ]);
});
