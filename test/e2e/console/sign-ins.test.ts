/** Sign-ins in the console: a person's own passkeys and browsers, and for administrators the programs that people authorised. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { makeToken, QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { letIn } from '../support/let-in.ts';

const HOSTILE = '<img src=x onerror="window.hit=1">';
/** The browser logs the requests that the gateway refuses on purpose here. */
const REFUSED = /^Failed to load resource: .* status of (?:401|422) /;

let gateway: Gateway;
let browser: Browser;
let admin = '';
let member = '';

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ env: QUIET }), startBrowser()]);
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
  member = (await gateway.createToken({ name: 'Bo' })).token;
  await letIn(gateway.origin, member);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** Opens a section, runs a test in it, and checks at the end that the page had no problems. */
async function inSection(
  section: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
  token = admin,
  origin = gateway.origin,
): Promise<void> {
  const path = `/console/settings?section=${section}`;
  const view = await openConsole(browser, origin, token, path);
  try {
    await act(view.page, async name => {
      await picture(view.page, `console-settings-${name}`);
      expect(await view.violations()).toEqual([]);
    });
    expect(view.problems.filter(problem => !REFUSED.test(problem))).toEqual([]);
  } finally {
    await view.close();
  }
}

const told = (page: Page, text: string) => page.waitForSelector(`.notice:focus >> text=${text}`);
const rowOf = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });
/** Activates a button of a row and confirms. */
async function confirm(page: Page, row: string, name: string): Promise<void> {
  await rowOf(page, row).getByRole('button', { name }).click();
  await page.locator('dialog[open]').getByRole('button', { name }).click();
}
const press = async (page: Page, name: RegExp) => {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
};
async function isText(page: Page): Promise<void> {
  expect(await page.evaluate('window.hit')).toBeUndefined();
  expect(await page.locator('main img').count()).toBe(0);
}

it('[OPS-1] [ACC-7] adds a program, whose secret is shown once, and deletes it', async () => {
  await inSection('programs', async (page, look) => {
    await page.click('text=Add a program');
    await page.fill('#program-name', HOSTILE);
    await page.fill('#program-redirects', 'http://not.loopback.example/cb');
    await page.click('text=Add it');
    await page.waitForSelector('#program-redirects-wrong');
    expect(await page.inputValue('#program-name')).toBe(HOSTILE);
    await page.fill('#program-redirects', 'https://reports.example.com/cb');
    await page.click('text=Add it');
    await page.waitForSelector('.shown-once textarea:focus');
    const secret = await page.inputValue('.shown-once textarea');
    expect(secret).toMatch(/^portico_secret_/);
    await look('program-added');
    await page.click('text=I have it');
    await told(page, 'The program is below');
    await isText(page);
    expect(await page.content()).not.toContain(secret);
    expect(await rowOf(page, 'reports.example.com').textContent()).toContain(HOSTILE);
    await confirm(page, 'reports.example.com', 'Delete');
    await told(page, 'are deleted');
    await rowOf(page, 'reports.example.com').waitFor({ state: 'detached' });
    const { json } = await gateway.api('GET', '/api/v1/oauth/clients?kind=manual');
    expect(json['clients']).toEqual([]);
  });
});

it('[OPS-1] [ACC-7] shows who authorised which program, and revokes it', async () => {
  await inSection('grants', async (page, look) => {
    const row = await rowOf(page, 'Bo').textContent();
    expect(row).toContain('A program');
    await look('grant');
    await confirm(page, 'A program', 'End');
    await told(page, 'The grant is ended');
    expect((await gateway.api('GET', '/api/v1/grants')).json['grants']).toEqual([]);
  });
});

it("[OPS-1] [ACC-7] signs a member's other browser out, with the keyboard", async () => {
  const other = await browser.newContext();
  try {
    const page = await other.newPage();
    await page.goto(`${gateway.origin}/sign-in`);
    await page.fill('[name=code]', member);
    await page.press('[name=code]', 'Enter');
    await page.getByText('signed in as').waitFor();
    await inSection(
      'sign-in',
      async (own, look) => {
        await own.waitForSelector('tbody tr');
        expect(await own.locator('nav.sections a').allTextContents()).toEqual(['Your sign-in']);
        const before = await own.locator('tbody tr').count();
        await press(own, /^Skip/);
        // The newest is first: this browser, then the other.
        await tabTo(own, /^Sign it out$/);
        await own.keyboard.press('Tab');
        await press(own, /^Sign it out$/);
        await own.waitForSelector('dialog[open]');
        await own.keyboard.press('Enter');
        await told(own, 'That browser is signed out');
        await expect.poll(() => own.locator('tbody tr').count()).toBe(before - 1);
        await look('sign-ins');
        await page.reload();
        await page.waitForSelector('[name=code]');
      },
      member,
    );
  } finally {
    await other.close();
  }
});

it('[OPS-1] [ACC-7] shows a passkey that the person added, and deletes it', async () => {
  // Passkeys belong to a host name, never to an IP address.
  const origin = gateway.origin.replace('127.0.0.1', 'localhost');
  const { token } = await gateway.createToken({ name: 'Cy' });
  await inSection(
    'sign-in',
    async (page, look) => {
      const cdp = await page.context().newCDPSession(page);
      await cdp.send('WebAuthn.enable');
      const options = {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      } as const;
      await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
      await page.click('text=Add a passkey');
      await page.waitForURL(/\/sign-in\/passkeys$/);
      await page.getByLabel('Name of').fill(HOSTILE);
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByText('never used').waitFor();
      await page.goto(`${origin}/console/settings?section=sign-in`);
      await rowOf(page, HOSTILE).waitFor();
      await look('passkey');
      await isText(page);
      await confirm(page, HOSTILE, 'Delete');
      await told(page, 'The passkey is deleted');
      await page.getByText('You have none').waitFor();
      expect((await gateway.api('GET', '/api/v1/passkeys')).json['passkeys']).toEqual([]);
    },
    token,
    origin,
  );
});

it('[OPS-1] [ACC-7] keeps the input when the sign-in ends, and continues after a new one in another tab', async () => {
  const { token } = await gateway.createToken({ name: 'Cleo', scopes: ['admin'] });
  const name = 'Kept over a sign-in';
  await inSection(
    'programs',
    async (page, look) => {
      await page.click('text=Add a program');
      await page.fill('#program-name', name);
      await page.fill('#program-redirects', 'https://kept.example.com/cb');
      const elsewhere = await page.context().newPage();
      await elsewhere.goto(`${gateway.origin}/console`);
      await elsewhere.getByRole('button', { name: 'Sign out' }).click();
      await elsewhere.waitForSelector('text=Sign in');
      await elsewhere.close();
      // The stream of events may have shown the dialog already.
      await page.locator('text=Add it').dispatchEvent('click');
      const curtain = page.locator('dialog[open]', { hasText: 'You are signed out' });
      await curtain.waitFor();
      for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
      await curtain.waitFor();
      await look('signed-out');
      const [other] = await Promise.all([
        page.context().waitForEvent('page'),
        curtain.getByText('Sign in in a new tab').click(),
      ]);
      await other.fill('[name=code]', token);
      await other.press('[name=code]', 'Enter');
      await other.waitForURL(/\/console$/);
      await other.close();
      await curtain.waitFor({ state: 'detached' });
      expect(await page.inputValue('#program-name')).toBe(name);
      await page.click('text=Add it');
      await page.waitForSelector('.shown-once textarea:focus');
    },
    token,
  );
});

it('[OPS-1] [ACC-7] takes a token for this tab, and asks again for one that the gateway refuses', async () => {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${gateway.origin}/console?token`);
    const give = async (token: string) => {
      await page.fill('#token', token);
      await page.press('#token', 'Enter');
    };
    const refused = makeToken();
    await give(refused);
    await page.getByRole('alert').getByText('The gateway refuses this token').waitFor();
    expect(await page.inputValue('#token')).toBe(refused);
    expect(await page.locator('#token:focus').count()).toBe(1);
    await give(gateway.adminToken);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await context.cookies()).toEqual([]);
    // Also where somebody else is signed in with the browser.
    const { token } = await gateway.createToken({ name: 'Tilda' });
    await page.goto(`${gateway.origin}/sign-in?return=/console`);
    await page.fill('[name=code]', token);
    await page.press('[name=code]', 'Enter');
    await page.locator('.who', { hasText: 'Tilda' }).waitFor();
    await page.goto(`${gateway.origin}/console?token`);
    await give(gateway.adminToken);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.locator('.who', { hasText: 'Tilda' }).count()).toBe(0);
  } finally {
    await context.close();
  }
});
