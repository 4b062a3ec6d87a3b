/** A person signs in with a token: by a cookie that only the pages read, for as long as that token is unchanged. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSignIn } from '../../../src/sign-in/create-sign-in.ts';
import { createAudit } from '../../../src/audit/create-audit.ts';
import { objectsOf } from '../../../src/objects/objects-of.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { createBrowser, type Browser } from '../support/browser.ts';
import { ADMIN, createPortico, createToken, modern, ORIGIN } from '../support/portico.ts';

const portico = createPortico();
const { adminAudit } = createAudit({ db: env.DB, ...objectsOf(env) });
const { signIns } = createSignIn({
  db: env.DB,
  keys: createKeyRing(env.PORTICO_KEYS),
  adminAudit,
  adminToken: ADMIN,
  allowsLoopback: false,
  expectEvents: async () => undefined,
  onAccessChanged: async () => undefined,
  registry: () => Promise.reject(new Error('not asked here')),
});

const who = ({ cookie }: Browser) => {
  const url = new URL(`${ORIGIN}/authorize`);
  return signIns.of(new Request(url, { headers: { cookie } }), url);
};
const count = async (sql: string, ...params: unknown[]) => {
  const row = await env.DB.prepare(`SELECT count(*) AS n FROM ${sql}`)
    .bind(...params)
    .first<{ n: number }>();
  return row?.n ?? -1;
};

/** A browser in which the owner of a token is signed in. */
async function signedIn(token: string): Promise<Browser> {
  const browser = createBrowser(portico);
  const answer = await browser.post('/sign-in', { code: token });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in']);
  return browser;
}

describe('/sign-in', () => {
  beforeEach(async () => {
    await env.DB.prepare('DELETE FROM sign_ins').run();
  });

  it('[ACC-7] signs in with a token, shows who it is, and signs out', async () => {
    const { id, token } = await createToken(portico, { name: '<b>Ada</b>' });
    const browser = await signedIn(token);
    const page = await (await browser.get('/sign-in')).text();
    expect(page).toContain('signed in as <strong>&lt;b&gt;Ada&lt;/b&gt;</strong>');
    expect(await who(browser)).toMatchObject({
      name: '<b>Ada</b>',
      scopes: ['tools:read', 'tools:call'],
      servers: null,
      tools: null,
      toolsets: null,
      tokenId: id,
      identityId: null,
      grantsUntil: null,
    });
    const [, value = ''] = browser.cookie.split('=');
    const { results } = await env.DB.prepare('SELECT * FROM sign_ins').all();
    expect(JSON.stringify(results)).not.toContain(value);
    const before = browser.cookie;
    expect((await browser.post('/sign-out', {})).status).toBe(303);
    expect(browser.cookie).toBe('');
    expect(await who({ ...browser, cookie: before })).toBeUndefined();
    expect(await (await browser.get('/sign-in')).text()).toContain('name="code"');
    const { results: rows } = await env.DB.prepare(
      "SELECT action, token_id, outcome FROM audit_events WHERE action LIKE 'sign_in.%' AND token_id = ? ORDER BY at, seq",
    )
      .bind(id)
      .all();
    expect(rows).toEqual(
      ['sign_in.create', 'sign_in.delete'].map(action => ({
        action,
        token_id: id,
        outcome: 'done',
      })),
    );
  });

  it('[ACC-7] [ACC-9] grants no more than its token and its principal allow', async () => {
    const made = await portico.api('POST', '/api/v1/principals', {
      name: 'Bo',
      scopes: ['tools:read', 'servers:read'],
    });
    const { id: principal } = await made.json<{ id: string }>();
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const { token } = await createToken(portico, {
      principal,
      scopes: ['tools:read', 'tools:call'],
      tools: ['*.get_*'],
      expires_at: expires,
    });
    const browser = await signedIn(token);
    expect(await who(browser)).toMatchObject({
      principalId: principal,
      scopes: ['tools:read'],
      tools: ['*.get_*'],
      grantsUntil: Date.parse(expires),
    });
    await portico.api('PATCH', `/api/v1/principals/${principal}`, { scopes: [] });
    expect(await who(browser)).toMatchObject({ scopes: [] });
  });

  it.each([
    ['is revoked', (id: string) => portico.api('DELETE', `/api/v1/tokens/${id}`)],
    ['gets another value', (id: string) => portico.api('POST', `/api/v1/tokens/${id}/rotate`, {})],
    [
      'gets another value and the one before still works',
      (id: string) => portico.api('POST', `/api/v1/tokens/${id}/rotate`, { grace_seconds: 60 }),
    ],
    [
      'has expired',
      (id: string) =>
        env.DB.prepare('UPDATE tokens SET expires_at = ? WHERE id = ?')
          .bind(Date.now() - 1, id)
          .run(),
    ],
  ])('[ACC-7] [ACC-3] ends at once when the token %s', async (_, end) => {
    const { id, token } = await createToken(portico);
    const browser = await signedIn(token);
    const grant = crypto.randomUUID();
    await env.DB.prepare(
      `INSERT INTO oauth_grants (id, client_id, name, principal_id, token_id, audience, scopes, created_at, expires_at)
       SELECT ?, 'c', 'c', principal_id, id, 'https://x', '[]', 0, 9e15 FROM tokens WHERE id = ?`,
    )
      .bind(grant, id)
      .run();
    expect(await who(browser)).toBeDefined();
    await end(id);
    expect(await who(browser)).toBeUndefined();
    const isExpiry = (await count('tokens WHERE id = ? AND expires_at < ?', id, Date.now())) === 1;
    expect(await count('oauth_grants WHERE id = ?', grant)).toBe(isExpiry ? 1 : 0);
    const again = await createBrowser(portico).post('/sign-in', { code: token });
    expect(again.status).toBe(403);
  });

  it('[ACC-7] ends with the principal, and after twelve hours', async () => {
    const { id, token } = await createToken(portico);
    const [one, other] = [await signedIn(token), await signedIn(token)];
    const { id: signIn = '' } = (await who(one)) ?? {};
    await env.DB.prepare('UPDATE sign_ins SET expires_at = ? WHERE id = ?')
      .bind(Date.now(), signIn)
      .run();
    expect([await who(one), (await who(other))?.tokenId]).toEqual([undefined, id]);
    const { principalId } = (await who(other)) ?? {};
    await portico.api('DELETE', `/api/v1/principals/${principalId}`);
    expect(await who(other)).toBeUndefined();
    await signedIn((await createToken(portico)).token);
    expect(await count('sign_ins')).toBe(1);
  });

  it('[ACC-7] bounds the browsers of one person: beyond fifty the oldest ends', async () => {
    const { token } = await createToken(portico);
    const first = await signedIn(token);
    await env.DB.prepare('UPDATE sign_ins SET created_at = created_at - 1000').run();
    for (let more = 0; more < 50; more += 1) await signedIn(token);
    expect([await count('sign_ins'), await who(first)]).toEqual([50, undefined]);
  });

  it('[ACC-7] [ACC-9] ends no browser of a strong token for those of a weak one', async () => {
    const strong = await createToken(portico);
    const browser = await signedIn(strong.token);
    const { principalId: principal } = (await who(browser)) ?? {};
    const weak = await createToken(portico, { principal, tools: ['*.get_*'] });
    for (let more = 0; more < 51; more += 1) await signedIn(weak.token);
    expect((await who(browser))?.tokenId).toBe(strong.id);
    expect(await count('sign_ins WHERE token_id = ?', weak.id)).toBe(50);
  });

  it("[ACC-7] [SEC-5] refuses anything but a person's token in the same way, and writes nothing", async () => {
    const { id, token } = await createToken(portico);
    const { id: ended, token: expired } = await createToken(portico);
    await env.DB.batch([
      env.DB.prepare("UPDATE tokens SET grant_id = 'g', audience = 'x' WHERE id = ?").bind(id),
      env.DB.prepare('UPDATE tokens SET expires_at = 1 WHERE id = ?').bind(ended),
    ]);
    const before = await count('audit_events');
    const answers = await Promise.all(
      ['', 'x', `portico_${'A'.repeat(43)}`, token, expired, ` ${token}x`].map(async code => {
        const answer = await createBrowser(portico).post('/sign-in', { code });
        return [answer.status, answer.headers.get('set-cookie'), await answer.text()];
      }),
    );
    expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]?.slice(0, 2)).toEqual([403, null]);
    expect([await count('sign_ins'), await count('audit_events')]).toEqual([0, before]);
    const setup = await createBrowser(portico).post('/sign-in', { code: ADMIN });
    expect(setup.status).toBe(403);
    expect(await setup.text()).toContain('portico token create');
  });

  it('[ACC-7] [SEC-5] accepts only bounded forms of its own pages, and redirects nowhere else', async () => {
    const { token } = await createToken(portico);
    const browser = createBrowser(portico);
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:9999']) {
      for (const path of ['/sign-in', '/sign-out']) {
        expect((await browser.post(path, { code: token }, { origin })).status).toBe(403);
      }
    }
    const sent = (body: string, type = 'application/x-www-form-urlencoded') =>
      portico.fetch('/sign-in', {
        method: 'POST',
        headers: { 'content-type': type, origin: ORIGIN },
        body,
      });
    const noOrigin = await portico.fetch('/sign-in', { method: 'POST', body: `code=${token}` });
    expect(noOrigin.status).toBe(403);
    expect((await sent(`{"code":"${token}"}`, 'application/json')).status).toBe(415);
    expect((await sent(`code=${'x'.repeat(30_000)}`)).status).toBe(413);
    expect((await portico.fetch('/sign-out')).status).toBe(405);
    expect((await portico.fetch('/sign-in', { method: 'PUT' })).status).toBe(405);
    const evil = await browser.post('/sign-in', { code: token, return: 'https://evil.example/' });
    expect(evil.headers.get('location')).toBe('/sign-in');
  });

  it('[ACC-7] returns to the page that asked for it, by way of its own page', async () => {
    const { token } = await createToken(portico);
    const browser = createBrowser(portico);
    const path = '/authorize?client_id=a&state=%22%3E';
    const asked = `/sign-in?${String(new URLSearchParams({ return: path }))}`;
    const form = await (await browser.get(asked)).text();
    expect(form).toContain('value="/authorize?client_id=a&amp;state=%22%3E"');
    const answer = await browser.post('/sign-in', { code: token, return: path });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, asked]);
    const page = await browser.get(asked);
    expect(page.headers.get('refresh')).toBe(`0; url=${path}`);
    expect(await page.text()).toContain('href="/authorize?client_id=a&amp;state=%22%3E"');
    const out = await browser.post('/sign-out', { return: path });
    expect(out.headers.get('location')).toBe(asked);
  });

  it('[ACC-7] [OPS-1] shows a signed-in person without a return path the console', async () => {
    const { token } = await createToken(portico);
    const page = await (await signedIn(token)).get('/sign-in');
    expect(await page.text()).toContain('<a href="/console">Open the console</a>');
  });

  it('[ACC-7] [SEC-5] is a page without a secret, which cannot be framed or cached', async () => {
    const { token } = await createToken(portico);
    const browser = createBrowser(portico);
    const refusal = await browser.post('/sign-in', { code: token.slice(0, -1) });
    for (const page of [
      await browser.get('/sign-in'),
      refusal,
      await (await signedIn(token)).get('/sign-in'),
    ]) {
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(page.headers.get('cache-control')).toBe('no-store');
      const text = await page.text();
      expect(text).not.toMatch(/<script(?![^>]*src=)|<style|style=|\son\w+=/);
      expect(text).not.toContain(token.slice(0, -1));
      for (const [, path] of text.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
        // The console redirects to this page without a sign-in.
        const status = path === '/console' ? 303 : 200;
        expect([path, (await portico.fetch(path ?? '')).status]).toEqual([path, status]);
      }
    }
  });

  it('[ACC-7] [SEC-5] has no effect for clients: a cookie is no credential on /mcp or /api', async () => {
    const { token } = await createToken(portico, { scopes: ['admin'] });
    const { cookie } = await signedIn(token);
    const headers = { cookie, origin: ORIGIN };
    const { message, headers: own } = modern('tools/list');
    const answers = [
      await portico.post(message, { token: null, headers: { ...own, ...headers } }),
      await portico.api('GET', '/api/v1/token', undefined, { token: null, headers }),
      await portico.api('GET', '/api/v1/tokens', undefined, { token: null, headers }),
      await portico.api('POST', '/api/v1/tokens', { name: 'x' }, { token: null, headers }),
      await portico.fetch('/sse', { headers: { ...headers, accept: 'text/event-stream' } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  });

  it('[ACC-7] [SEC-5] requires TLS, except on this machine', async () => {
    const { token } = await createToken(portico);
    const plain = new URL('http://portico.example.com/sign-in');
    await expect(signIns.by(token, plain)).rejects.toMatchObject({ code: 'forbidden' });
    const tls = new URL('https://portico.example.com/sign-in');
    const value = await signIns.by(token, tls);
    const of = (cookie: string, url: URL) =>
      signIns.of(new Request(url, { headers: { cookie } }), url);
    expect(await of(`__Host-portico=${value}`, tls)).toBeDefined();
    expect(await of(`portico-sign-in=${value}`, tls)).toBeUndefined();
    expect(await of(`portico-sign-in=${value}`, plain)).toBeUndefined();
  });
});
