/** A person who will sign in through a provider is linked to an existing principal, from the terminal, and signs in as that one. */
import { OAuth2Server } from 'oauth2-mock-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCookieBrowser } from '../support/cookie-browser.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';

const mock = new OAuth2Server();
let gateway: Gateway;
let provider = '';
let grace = '';

beforeAll(async () => {
  gateway = await startGateway();
  await mock.issuer.keys.generate('RS256');
  await mock.start(0, '127.0.0.1');
  const body = { name: 'Mock', issuer: mock.issuer.url, client_id: 'portico' };
  provider = String((await gateway.api('POST', '/api/v1/sign-in-providers', body)).json['id']);
  grace = String((await gateway.api('POST', '/api/v1/principals', { name: 'Grace' })).json['id']);
});
afterAll(async () => {
  await mock.stop();
  await gateway?.stop();
});

const portico = (...words: string[]) =>
  runPortico(['identities', ...words], {
    env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken },
  });
/** Signs in the provider's `johndoe` through the page. @returns the principal */
async function signIn(): Promise<string | undefined> {
  const start = `${gateway.origin}/sign-in/start?provider=${provider}`;
  const { text } = await createCookieBrowser().open(start);
  return /signed in as <strong>([^<]+)/.exec(text)?.[1];
}

it('[ACC-7] [OPS-8] signs in as the principal that an administrator linked, and not after the link is removed', async () => {
  expect(await signIn()).toBeUndefined();
  const words = ['add', 'Grace', '--provider', 'mock', '--subject', 'johndoe'];
  const made = await portico(...words);
  expect([made.code, made.err]).toEqual([0, "'Grace' can sign in with mock\n"]);
  const id = made.out.trim();
  const again = await portico(...words);
  expect([again.code, again.err]).toEqual([
    1,
    expect.stringContaining('has this identity already'),
  ]);
  const unknown = await portico('add', 'Grace', '--provider', 'none', '--subject', 'x');
  expect(unknown.err).toContain('there is no such provider');
  const shown = async () => (await gateway.api('GET', `/api/v1/identities/${id}`)).json;
  expect(await shown()).toMatchObject({ principal: grace, signed_in_at: null, groups: [] });
  expect((await portico()).out).toMatch(new RegExp(`^NAME .*\nGrace +${id} +never\n$`));
  expect(await signIn()).toBe('Grace');
  expect(await shown()).toMatchObject({ principal: grace, signed_in_at: expect.any(String) });
  // No other principal was created.
  const { json } = await gateway.api('GET', '/api/v1/principals');
  const names = (json['principals'] as { name: string }[]).map(({ name }) => name);
  expect(names.filter(name => name !== 'first-member')).toEqual(['Grace']);
  expect((await portico('remove', id)).code).toBe(0);
  expect(await signIn()).toBeUndefined();
});
