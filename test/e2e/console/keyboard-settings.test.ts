/**
 * The remaining tasks of the console with the keyboard alone: an export, grants, ask, programs, the verification of the audit, and
 * passkeys.
 */
import { text as readWhole } from 'node:stream/consumers';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, until } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { tabTo } from '../support/keyboard.ts';
import { letIn } from '../support/let-in.ts';
import { atKeys } from '../support/people-stand.ts';

const CALLS = 2;
const SOON_MS = 60_000;

let gateway: Gateway;
let browser: Browser;
let admin = '';

beforeAll(async () => {
  const [started, opened, notes] = await Promise.all([
    startGateway({ env: QUIET }),
    startBrowser(),
    startFixture('rich-modern'),
  ]);
  [gateway, browser] = [started, opened];
  await gateway.register('notes', `${notes.origin}/mcp`);
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** Opens a view as a person without a mouse, and skips to its content. */
async function atView(
  path: string,
  act: (page: Page, keys: ReturnType<typeof atKeys>) => Promise<void>,
  token = admin,
  origin = gateway.origin,
): Promise<void> {
  const view = await openConsole(browser, origin, token, `/console${path}`);
  const keys = atKeys(view.page);
  try {
    await view.page.waitForSelector('main:has(h1):not(:has(.loading))');
    await keys.press(/^Skip to the content$/);
    await act(view.page, keys);
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
}

const atSection = (section: string, act: Parameters<typeof atView>[1]) =>
  atView(`/settings?section=${section}`, act);
const told = (page: Page, text: string) => page.waitForSelector(`.notice:focus >> text=${text}`);
/** Activates a button of a row, checks the text of its dialog, and confirms with Enter. */
async function confirm(page: Page, name: RegExp, says: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
  await page.waitForSelector(`dialog[open] >> text=${says}`);
  await page.keyboard.press('Enter');
}

it('[OPS-1] [SEC-6] exports the audit', async () => {
  const call = { name: 'notes.echo', arguments: { message: 'hello' } };
  for (let n = 0; n < CALLS; n += 1) await gateway.api('POST', '/api/v1/tools/call', call);
  await until('the calls are recorded', SOON_MS, async () => {
    const { json } = await gateway.api('GET', '/api/v1/audit?action=tool.call');
    return (json['events'] as object[]).length === CALLS ? true : undefined;
  });
  await atView('/activity?kind=calls&server=notes', async (page, { press }) => {
    await page.waitForSelector('tbody tr');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      press(/^Export all that match$/),
    ]);
    const lines = (await readWhole(await download.createReadStream())).trim().split('\n');
    const subjects = lines.map(line => (JSON.parse(line) as { subject: string }).subject);
    expect(subjects).toEqual(['notes.echo', 'notes.echo']);
  });
});

it('[OPS-1] [ACC-7] revokes what a person granted to a program', async () => {
  await letIn(gateway.origin, (await gateway.createToken({ name: 'Bo' })).token);
  await atSection('grants', async page => {
    await page.waitForSelector('tbody tr >> text=Bo');
    await confirm(page, /^End$/, 'are refused everywhere');
    await told(page, 'The grant is ended');
  });
  expect((await gateway.api('GET', '/api/v1/grants')).json['grants']).toEqual([]);
});

it('[OPS-1] [LLM-4] allows tools for ask, and revokes that', async () => {
  const entries = async () =>
    (await gateway.api('GET', '/api/v1/ask/allowlist')).json['entries'] as object[];
  await atSection('ask', async (page, { press, type }) => {
    await press(/^Allow tools$/);
    await page.waitForSelector('h3:focus');
    await tabTo(page, /^Who may ask$/);
    await page.keyboard.press('ArrowDown');
    await type(/^Group$/, 'readers');
    await type(/^Server$/, 'notes');
    await type(/^Tool$/, 'echo');
    await type(/^Why$/, 'It changes nothing');
    await press(/^Allow it$/);
    await told(page, 'Ask may call it now');
    expect(await entries()).toMatchObject([
      { subject: { kind: 'group', name: 'readers' }, server: 'notes', tool: 'echo' },
    ]);
    await confirm(page, /^Delete$/, 'no longer lets ask call');
    await told(page, 'Ask may no longer call it');
    expect(await entries()).toEqual([]);
  });
});

it('[OPS-1] [ACC-7] adds a program, copies its secret, and deletes it', async () => {
  const programs = async () =>
    (await gateway.api('GET', '/api/v1/oauth/clients?kind=manual')).json['clients'] as object[];
  await atSection('programs', async (page, { press, type }) => {
    await press(/^Add a program$/);
    await page.waitForSelector('h3:focus');
    await type(/^Name$/, 'Reports');
    await type(/^Addresses it may send people back to$/, 'https://reports.example.com/cb');
    await press(/^Add it$/);
    await page.waitForSelector('.shown-once textarea:focus');
    expect(await page.inputValue('.shown-once textarea')).toMatch(/^portico_secret_/);
    await press(/^I have it$/);
    await told(page, 'The program is below');
    expect(await programs()).toMatchObject([{ name: 'Reports' }]);
    await confirm(page, /^Delete$/, 'Its secret is gone');
    await told(page, 'are deleted');
    expect(await programs()).toEqual([]);
  });
});

it('[OPS-1] [SEC-6] verifies the audit', async () => {
  await atSection('audit', async (page, { press }) => {
    await press(/^Check every chain$/);
    await told(page, 'chains are unaltered');
    expect(await page.locator('tbody .badge.good').count()).toBeGreaterThan(0);
  });
});

it('[OPS-1] [ACC-7] adds a passkey, and deletes it', async () => {
  // Passkeys belong to a host name, never to an IP address.
  const origin = gateway.origin.replace('127.0.0.1', 'localhost');
  const { token } = await gateway.createToken({ name: 'Cy' });
  await atView(
    '/settings?section=sign-in',
    async (page, { press, type }) => {
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
      await press(/^Add a passkey$/);
      await page.waitForURL(/\/sign-in\/passkeys$/);
      await type(/^Name of/, 'of the desk');
      await press(/^Add a passkey$/);
      await page.getByText('never used').waitFor();
      await page.goto(`${origin}/console/settings?section=sign-in`);
      await page.waitForSelector('tbody tr >> text=of the desk');
      await press(/^Skip to the content$/);
      await confirm(page, /^Delete$/, 'Nobody signs in by of the desk any more');
      await told(page, 'The passkey is deleted');
      await page.getByText('You have none').waitFor();
    },
    token,
    origin,
  );
  expect((await gateway.api('GET', '/api/v1/passkeys')).json['passkeys']).toEqual([]);
});
