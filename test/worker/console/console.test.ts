/** The console's page and its files: for signed-in people, under a policy that allows nothing else. */
import { beforeAll, expect, it } from 'vitest';
import { createBrowser } from '../support/browser.ts';
import { createPerson } from '../support/call-rows.ts';
import { signIn } from '../support/oauth-client.ts';
import { createPortico } from '../support/portico.ts';

const portico = createPortico();
let token = '';

beforeAll(async () => {
  ({ token } = await createPerson(portico, { name: 'Ada' }));
});

it('[OPS-1] [ACC-7] is one page for every path, once somebody is signed in', async () => {
  const stranger = createBrowser(portico);
  const asked = await stranger.get('/console/accounts?x=1');
  expect([asked.status, asked.headers.get('location')]).toEqual([
    303,
    '/sign-in?return=%2Fconsole%2Faccounts%3Fx%3D1',
  ]);
  const browser = await signIn(portico, token);
  const pages = await Promise.all(
    ['/console', '/console/', '/console/accounts'].map(async path => {
      const page = await browser.get(path);
      return [page.status, page.headers.get('cache-control'), await page.text()];
    }),
  );
  expect(pages[0]?.slice(0, 2)).toEqual([200, 'no-store']);
  expect(new Set(pages.map(String)).size).toBe(1);
});

it('[OPS-1] opens from the bare host name in a browser; a program gets the answer of the API', async () => {
  const ask = (accept: string) => portico.fetch('/', { headers: { accept } });
  const page = await ask('text/html,*/*;q=0.8');
  expect([page.status, page.headers.get('location')]).toEqual([303, '/console']);
  const answer = await ask('application/json');
  expect([answer.status, answer.headers.has('www-authenticate')]).toEqual([401, true]);
});

it('[OPS-1] [SEC-4] allows nothing but its own files', async () => {
  const page = await createBrowser(portico).get('/console?token');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]);
  const html = await page.text();
  const named = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(1);
  const strangers = createBrowser(portico);
  for (const path of named) {
    const file = await strangers.get(path);
    expect([path, file.status, file.headers.get('cache-control')]).toEqual([
      path,
      200,
      'public, max-age=31536000, immutable',
    ]);
    expect(file.headers.get('content-type')).toMatch(/^text\/(?:javascript|css); charset=utf-8$/);
  }
});

it.each(['../index.html', '%2e%2e/index.html', 'nothing.js', 'source.txt', ''])(
  '[SEC-4] has no other file: %s',
  async name => {
    const answer = await createBrowser(portico).get(`/console/assets/${name}`);
    expect([303, 404]).toContain(answer.status);
  },
);

it('[ACC-7] shows callers who they are, and nothing more', async () => {
  const person = await createPerson(portico, { name: 'Bob', scopes: ['tools:read'] });
  const me = async (sent: object) =>
    (await portico.api('GET', '/api/v1/token', undefined, sent)).json();
  expect(await me({ token: person.token })).toEqual({
    id: expect.any(String),
    principal: person.principalId,
    name: 'Bob',
    groups: [],
    scopes: ['tools:read'],
    limited: false,
  });
  expect(await me({})).toMatchObject({ name: 'setup-admin', scopes: ['admin'] });
});
