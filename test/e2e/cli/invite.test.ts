/**
 * `portico invite`, `invitations` and `sign-ins` on a real gateway: an administrator invites a person, the person signs in, and is signed
 * out.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico } from '../support/portico-command.ts';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway?.stop();
});

const portico = (words: string) =>
  runPortico(words.split(' '), {
    cwd: process.cwd(),
    env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken },
    input: '',
  });
const json = async <T>(words: string): Promise<T> => (await portico(`${words} --json`)).json<T>();

it('[ACC-7] [OPS-8] a link is created and used once, and its browser is signed out', async () => {
  expect((await portico('invite Ada')).err).toContain("there is no principal 'Ada'");
  await portico('principals add Ada');
  const { code, out, err } = await portico('invite Ada --expires 2h');
  expect([code, err]).toEqual([
    0,
    expect.stringMatching(/^'Ada' can sign in with it once, until /),
  ]);
  const link = new URL(out.trim());
  expect([link.origin, link.pathname]).toEqual([gateway.origin, '/sign-in']);
  expect((await portico('invitations')).out).toMatch(/^ID +PRINCIPAL +EXPIRES\n\S+ +Ada +20/);
  const { origin } = gateway;
  const signIn = () =>
    fetch(`${origin}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin },
      body: new URLSearchParams({ code: link.hash.slice(1) }),
    });
  const answer = await signIn();
  expect(answer.status).toBe(303);
  expect((await signIn()).status).toBe(403);
  expect((await portico('invitations')).err).toBe('no invitations wait; portico invite NAME\n');
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  const page = async () => (await fetch(`${origin}/sign-in`, { headers: { cookie } })).text();
  expect(await page()).toContain('signed in as <strong>Ada</strong>');
  expect((await portico('sign-ins')).out).toMatch(
    /^ID +PRINCIPAL +BY +SINCE\n\S+ +Ada +invitation/,
  );
  const [{ id } = { id: '' }] = await json<{ id: string }[]>('sign-ins');
  expect((await portico(`sign-ins remove ${id}`)).err).toBe(`sign-in ${id} is removed\n`);
  expect(await page()).not.toContain('Ada');
  const tooShort = await portico('invite Ada --expires 2027');
  expect([tooShort.code, tooShort.err]).toEqual([
    2,
    expect.stringContaining('is not a valid time'),
  ]);
});
