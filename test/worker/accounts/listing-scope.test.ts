/** A server that requires more scopes before it lists anything: nobody can call it yet, so its monitor records the required scope. */
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import type { Browser } from '../support/browser.ts';
import { createPerson } from '../support/call-rows.ts';
import { signIn } from '../support/oauth-client.ts';
import { OauthUpstream } from '../support/oauth-upstream.ts';
import { createPortico, PATIENT, register } from '../support/portico.ts';

const portico = createPortico();

/** Starts the sign-in. @returns the parameters for the authorization server, or undefined if the page does not redirect */
async function leave(browser: Browser): Promise<URLSearchParams | undefined> {
  const page = await (await browser.post('/connect/listing', { how: 'sign-in' })).text();
  const address = /content="0;url=([^"]+)"/.exec(page)?.[1];
  return address === undefined ? undefined : new URL(address.replaceAll('&amp;', '&')).searchParams;
}

async function connect(browser: Browser, asked: URLSearchParams | undefined): Promise<void> {
  const answer = new URLSearchParams({ code: 'code', state: asked?.get('state') ?? '' });
  const back = await browser.get(`/oauth/callback?${answer}`);
  expect(await back.text()).toContain('Connected');
}

const wanted = async () =>
  (await env.DB.prepare('SELECT wanted_scope FROM account_grants').first())?.['wanted_scope'];

it('[ACC-8] [UP-4] the scope that a list requires is requested at the next sign-in, a bounded number of times', async () => {
  const upstream = new OauthUpstream('listing');
  upstream.challenge = 'Bearer scope="base"';
  upstream.replaced.set(upstream.url, ({ headers }) => {
    const isSignedIn = headers.get('authorization') === 'Bearer at-1';
    const challenge = 'Bearer error="insufficient_scope", scope="lists"';
    return new Response('no', {
      status: isSignedIn ? 403 : 401,
      headers: { 'www-authenticate': isSignedIn ? challenge : upstream.challenge },
    });
  });
  await register(portico, 'listing', { accounts: 'per_principal' });
  const { token } = await createPerson(portico, { name: 'Ada' });
  const browser = await signIn(portico, token);
  const scopes: (string | null | undefined)[] = [];
  for (let asked = await leave(browser); asked; asked = await leave(browser)) {
    scopes.push(asked.get('scope'));
    expect(scopes.length).toBeLessThan(4);
    await connect(browser, asked);
    await vi.waitFor(async () => expect(await wanted()).toBe('lists'), PATIENT);
  }
  expect(scopes).toEqual(['base', 'base lists', 'base lists']);
});
