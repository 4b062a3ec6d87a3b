/** `portico login`: a person signs the command line in with a browser, here or on another machine, and out again. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { problemsOf } from '../support/page-problems.ts';
import { startBrowser } from '../support/browser.ts';
import { createLoginMachine, logIn, type LoginMachine } from '../support/logging-in.ts';
import { startSignInGateway, type SignInGateway } from '../support/signing-in.ts';
import { startTerminal } from '../support/terminal.ts';
import { until } from '../../fixtures/start-fixture.ts';

const SOON_MS = 60_000;
let stand: SignInGateway;
let browser: Browser;
let origin: string;
let machine: LoginMachine;

beforeAll(async () => {
  [stand, browser] = await Promise.all([startSignInGateway(), startBrowser()]);
  ({ origin } = stand.gateway);
});
afterAll(async () => {
  await browser?.close();
  await stand?.stop();
});
beforeEach(async () => {
  machine = await createLoginMachine('echo "$1" > "$HOME/opened"');
});
afterEach(() => machine.remove());

const names = async (...words: string[]): Promise<string[]> => {
  const listed = await machine.run('tools', '--json', ...words);
  if (listed.code !== 0) throw new Error(listed.err);
  return listed.json<{ name: string }[]>().map(({ name }) => name);
};

describe('with a browser', () => {
  it('[ACC-7] [CLI-4] opens the page, comes back, and the other commands need no token', async () => {
    const beginning = machine.begin(origin);
    const opened = await until('the page is opened', SOON_MS, () =>
      readFile(join(machine.env['HOME'] ?? '', 'opened'), 'utf8').then(
        text => text.trim() || undefined,
        () => undefined,
      ),
    );
    expect(opened).toBe(await beginning.said(/http\S+\/authorize\?\S+(?=\s)/));
    const asked = new URL(opened).searchParams;
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(asked.get('resource')).toBe(origin);
    expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const page = await fetch(await stand.person.allow(opened));
    expect(await page.text()).toContain('You can close this window');
    const { code, err } = await beginning.ended;
    expect([code, err]).toEqual([0, expect.stringContaining(`signed in to ${origin}`)]);
    // The only gateway that it is signed in to.
    expect(await names()).toContain('rich.echo');
    expect(await names('--url', `${origin}/mcp`)).toContain('rich.echo');
    const called = await machine.run('call', 'rich.echo', '--message', 'in');
    expect(called.out).toContain('Echo: in');
    const doctor = await machine.run('doctor', '--json');
    expect(doctor.out).toContain('"detail": "valid; tools:read, tools:call"');
  });

  it('[ACC-7] ends with a page in a real browser that says it can be closed', async () => {
    const beginning = machine.begin(origin, '--no-browser');
    const address = await beginning.said(/http\S+\/authorize\?\S+(?=\s)/);
    const { token } = await stand.gateway.createToken({ name: 'Grace' });
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const problems = problemsOf(page);
      await page.goto(address);
      await page.getByLabel(/token/i).fill(token);
      await page.keyboard.press('Enter');
      await page.getByText('Portico command line').first().waitFor();
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
      expect(await page.locator('body').textContent()).toContain('You can close this window');
      expect(problems).toEqual([]);
      expect((await beginning.ended).code).toBe(0);
    } finally {
      await context.close();
    }
    expect(await names()).toContain('rich.echo');
  });

  it('[ACC-5] [SEC-5] ignores responses without its state, and accepts none of another issuer', async () => {
    const beginning = machine.begin(origin, '--no-browser');
    const address = await beginning.said(/http\S+\/authorize\?\S+(?=\s)/);
    const asked = new URL(address).searchParams;
    const [redirect, state] = [asked.get('redirect_uri') ?? '', asked.get('state') ?? ''];
    const visit = (query: Record<string, string>) =>
      fetch(`${redirect}?${new URLSearchParams(query)}`);
    const { port } = new URL(redirect);
    for (const other of [redirect, `http://127.0.0.1:${port}/`, `${redirect}/x?state=${state}`]) {
      expect((await fetch(other)).status).toBe(404);
    }
    expect((await visit({ code: 'x', state: 'another', iss: origin })).status).toBe(404);
    expect((await fetch(redirect, { method: 'POST' })).status).toBe(404);
    const mixed = await visit({ code: 'x', state, iss: 'https://evil.example.com' });
    expect(await mixed.text()).toContain('You are not signed in');
    const { code, err } = await beginning.ended;
    expect([code, err]).toEqual([1, expect.stringContaining('is not a Portico gateway')]);
    expect((await machine.run('tools', '--url', origin)).code).toBe(2);
  });

  it('[ACC-5] reports a refusal, and ends on Ctrl-C', async () => {
    const beginning = machine.begin(origin, '--no-browser');
    const asked = new URL(await beginning.said(/http\S+\/authorize\?\S+(?=\s)/)).searchParams;
    const answer = { error: 'access_denied', state: asked.get('state') ?? '', iss: origin };
    await fetch(`${asked.get('redirect_uri')}?${new URLSearchParams(answer)}`);
    const { code, err } = await beginning.ended;
    expect([code, err]).toEqual([3, expect.stringContaining('portico: access was denied')]);
    const other = machine.begin(origin, '--no-browser');
    await other.said(/authorize/);
    other.interrupt();
    expect(await other.ended).toMatchObject({ code: 130 });
  });
});

it('[CLI-4] shows a short address too at a terminal that breaks the long one', async () => {
  const terminal = startTerminal(['login', origin, '--no-browser'], machine.env);
  const shown = await terminal.see(' instead.');
  const [, short = ''] = /open (http\S+) instead/.exec(shown) ?? [];
  expect(short).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{12}$/);
  const answer = await fetch(short, { redirect: 'manual' });
  expect(answer.status).toBe(302);
  expect(shown).toContain(`  ${answer.headers.get('location')}\r\n`);
  expect((await fetch(`${short}x`)).status).toBe(404);
  terminal.type('\u0003');
  expect((await terminal.end()).code).toBe(130);
});

describe('with a code', () => {
  it('[ACC-7] [CLI-4] shows the code if there is no display, and continues when it was allowed elsewhere', async () => {
    const [headless, other] = await Promise.all([createLoginMachine(), createLoginMachine()]);
    try {
      const [beginning, second] = [headless.begin(origin), other.begin(origin)];
      const address = await beginning.said(/http\S+\/device\?user_code=[A-Z]{4}-[A-Z]{4}/);
      const letters = address.slice(-9).split('').join(' ');
      expect(await beginning.said(/(?:[A-Z] ){4}- (?:[A-Z] ?){4}/)).toBe(letters);
      expect(await stand.person.decideDevice(address)).toContain('Portico command line');
      const next = await second.said(/http\S+\/device\?user_code=[A-Z]{4}-[A-Z]{4}/);
      await stand.person.decideDevice(next, 'deny');
      expect(await beginning.ended).toMatchObject({ code: 0 });
      const called = await headless.run('call', 'rich.echo', '--message', 'far');
      expect(called.out).toContain('Echo: far');
      const refused = await second.ended;
      expect([refused.code, refused.err]).toEqual([
        3,
        expect.stringContaining('portico: access was denied'),
      ]);
      await expect(other.kept()).rejects.toThrow('ENOENT');
    } finally {
      await Promise.all([headless.remove(), other.remove()]);
    }
  });

  it('[CLI-4] shows that it waits, and Ctrl-C ends it with an empty line', async () => {
    const terminal = startTerminal(['login', origin, '--device'], machine.env);
    await terminal.see('Open this page');
    await terminal.see('more min. Ctrl-C stops.');
    terminal.type('\u0003');
    const { code, rest } = await terminal.end();
    expect([code, rest.trim()]).toEqual([130, expect.stringMatching(/portico: cancelled$/)]);
  });
});

describe('without a gateway', () => {
  it.each([
    ['that is there', 'http://127.0.0.1:9', /cannot be reached/, 1],
    ['that is a URL', 'nonsense', /is not a gateway URL/, 2],
    ['under https', 'http://portico.example.com', /unencrypted/, 2],
  ])('[CLI-4] %s it says so in one line', async (_what, url, message, code) => {
    const ran = await machine.run('login', url);
    expect([ran.code, ran.out, ran.err.trim().split('\n')]).toEqual([
      code,
      '',
      [expect.stringMatching(message)],
    ]);
  });

  it('[CLI-4] but with a server that is no gateway it says so', async () => {
    const ran = await machine.run('login', stand.upstream.origin);
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('is not a Portico gateway')]);
  });
});

it('[ACC-5] [CLI-4] signs in again as the same client, and the former login ends', async () => {
  await logIn(machine, origin, stand.person);
  const first = await machine.kept();
  await logIn(machine, origin, stand.person);
  const second = await machine.kept();
  expect(second.client_id).toBe(first.client_id);
  expect(await stand.grantsOf(first.client_id)).toHaveLength(1);
  await stand.gateway.api('DELETE', `/api/v1/oauth/clients/${first.client_id}`);
  await logIn(machine, origin, stand.person);
  expect((await machine.kept()).client_id).not.toBe(first.client_id);
  expect(await names()).toContain('rich.echo');
});
