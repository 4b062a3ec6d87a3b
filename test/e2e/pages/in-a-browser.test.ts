/** A person signs in and authorises a program, in a real browser: with and without scripts, with the keyboard alone. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemsOf } from '../support/page-problems.ts';
import { startBrowser } from '../support/browser.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { open } from '../support/raw-client.ts';
import { startSigningProgram } from '../support/signing-program.ts';

let gateway: Gateway;
let browser: Browser;
let token: string;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ env: QUIET }), startBrowser()]);
  token = (await gateway.createToken({ name: 'Ada' })).token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const lists = async (accessToken: string): Promise<number> => {
  const client = await open('modern', { url: `${gateway.origin}/mcp`, token: accessToken });
  return (await client.request('tools/list')).status;
};

describe.each([true, false])('with scripts: %s', javaScriptEnabled => {
  it.each(['127.0.0.1', 'localhost', '[::1]'])(
    '[ACC-5] [ACC-7] a person authorises a program that waits at %s, with the keyboard',
    async host => {
      const program = await startSigningProgram(gateway.origin, host);
      const context = await browser.newContext({ javaScriptEnabled });
      try {
        const page = await context.newPage();
        const problems = problemsOf(page);
        await page.goto(program.authorizeUrl.href);
        await picture(page, `sign-in-${javaScriptEnabled}`);
        await tabTo(page, /token|code/i);
        await page.keyboard.type(token);
        await page.keyboard.press('Enter');
        await page.waitForURL(/\/authorize\?/);
        await picture(page, `allow-${javaScriptEnabled}`);
        expect(await page.locator('h1').textContent()).toContain('Test program');
        await tabTo(page, /^Allow$/);
        await page.keyboard.press('Enter');
        await page.waitForURL(/\/callback\?/);
        expect(await page.locator('h1').textContent()).toBe('Back in the program');
        expect(await lists(await program.accessToken)).toBe(200);
        expect(problems).toEqual([]);
      } finally {
        await context.close();
        await program.stop();
      }
    },
  );
});

/** Starts a program that shows a code. @returns the address with the code, and a function that polls for the answer */
async function startDevice() {
  const post = async (path: string, body: URLSearchParams | string) => {
    const type =
      typeof body === 'string' ? 'application/json' : 'application/x-www-form-urlencoded';
    const headers = { 'content-type': type };
    const answer = await fetch(gateway.origin + path, { method: 'POST', headers, body });
    return (await answer.json()) as Record<string, string>;
  };
  const { client_id: id = '' } = await post(
    '/register',
    JSON.stringify({
      client_name: 'Headless program',
      redirect_uris: ['http://127.0.0.1/callback'],
      token_endpoint_auth_method: 'none',
    }),
  );
  const client = new URLSearchParams({ client_id: id });
  const shown = await post('/device_authorization', client);
  const grant = 'urn:ietf:params:oauth:grant-type:device_code';
  const asking = { client_id: id, grant_type: grant, device_code: shown['device_code'] ?? '' };
  return {
    code: shown['user_code'] ?? '',
    address: shown['verification_uri_complete'] ?? '',
    ask: () => post('/token', new URLSearchParams(asking)),
  };
}

it.each([true, false])(
  '[ACC-5] [ACC-7] with scripts: %s, a person authorises a program that shows a code, with the keyboard',
  async javaScriptEnabled => {
    const program = await startDevice();
    const context = await browser.newContext({ javaScriptEnabled });
    try {
      const page = await context.newPage();
      const problems = problemsOf(page);
      await page.goto(program.address);
      await tabTo(page, /token|code/i);
      await page.keyboard.type(token);
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/device\?/);
      await picture(page, `device-${javaScriptEnabled}`);
      expect(await page.getByLabel('Code').inputValue()).toBe(program.code);
      expect(await program.ask()).toMatchObject({ error: 'authorization_pending' });
      await tabTo(page, /^Go on$/);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Do not allow' }).waitFor();
      await picture(page, `device-allow-${javaScriptEnabled}`);
      expect(await page.locator('h1').textContent()).toContain('Headless program');
      expect(await page.locator('main').textContent()).toContain(program.code);
      await tabTo(page, /^Allow$/);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Allowed' }).waitFor();
      await picture(page, `device-allowed-${javaScriptEnabled}`);
      expect(await lists((await program.ask())['access_token'] ?? '')).toBe(200);
      expect(problems).toEqual([]);
    } finally {
      await context.close();
    }
  },
);

it('[ACC-5] a person who refuses returns to the program without a code', async () => {
  const program = await startSigningProgram(gateway.origin);
  const context = await browser.newContext();
  const outcome = program.accessToken.catch((error: Error) => error);
  try {
    const page = await context.newPage();
    await page.goto(program.authorizeUrl.href);
    await page.getByLabel(/token/i).fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Do not allow' }).click();
    await page.waitForURL(/error=access_denied/);
    expect(await outcome).toBeInstanceOf(Error);
  } finally {
    await context.close();
    await program.stop();
  }
});

it('[ACC-5] a person reaches what the address of the program redirects to, elsewhere', async () => {
  const program = await startSigningProgram(gateway.origin, '127.0.0.1', 'localhost');
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const problems = problemsOf(page);
    await page.goto(program.authorizeUrl.href);
    await page.getByLabel(/token/i).fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForURL(/localhost:\d+\/done$/);
    expect(await lists(await program.accessToken)).toBe(200);
    expect(problems).toEqual([]);
  } finally {
    await context.close();
    await program.stop();
  }
});

it('[ACC-7] the page is dark if the system is, and fits a phone', async () => {
  const context = await browser.newContext({
    colorScheme: 'dark',
    viewport: { width: 360, height: 640 },
  });
  const program = await startSigningProgram(gateway.origin);
  try {
    const page = await context.newPage();
    await page.goto(program.authorizeUrl.href);
    await page.getByLabel(/token/i).fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
    await picture(page, 'allow-phone');
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(360);
  } finally {
    await context.close();
    await program.stop();
  }
});
