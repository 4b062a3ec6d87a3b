/**
 * Machines in the console: one is added, connects with the shown command, gets another command, and is revoked; by mouse and with the
 * keyboard.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { ConnectStand, type ConnectProcess } from '../support/connect-process.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';

const CONNECTORS = '/api/v1/connectors';
const HOSTILE = '<img src=x onerror="window.hit=1">';
/** The browser logs the requests that the gateway refuses on purpose here. */
const REFUSED = /^Failed to load resource: .* status of 4(09|22) /;
/** Long enough for a busy machine. */
const SOON = { timeout: 60_000 };
const COMMAND =
  /^PORTICO_CONNECTOR_TOKEN=(portico_device_[\w-]{43}) portico connect (--url \S+ --config mcp\.json)$/;

let gateway: Gateway;
let browser: Browser;
let stand: ConnectStand;
let keeper = '';
let viewer = '';

const namesOf = async () => {
  const { json } = await gateway.api('GET', CONNECTORS);
  return (json['connectors'] as { name: string }[]).map(({ name }) => name);
};

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ env: QUIET }), startBrowser()]);
  const scopes = ['servers:read', 'servers:write'];
  keeper = (await gateway.createToken({ name: 'Kim', scopes })).token;
  viewer = (await gateway.createToken({ name: 'Bo', scopes: scopes.slice(0, 1) })).token;
});

beforeEach(async () => {
  stand = await ConnectStand.create();
  stand.write('mcp.json', { mcpServers: { tools: stand.tools('tools') } });
});

afterEach(async () => {
  await stand.remove();
  for (const name of await namesOf()) await gateway.api('DELETE', `${CONNECTORS}/${name}`);
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** Opens the view, runs a test in it, and checks at the end that the page had no problems. */
async function inMachines(
  search: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
  token = keeper,
): Promise<void> {
  const view = await openConsole(browser, gateway.origin, token, `/console/machines${search}`);
  try {
    await act(view.page, async name => {
      await picture(view.page, `console-machines-${name}`);
      expect(await view.violations()).toEqual([]);
    });
    expect(view.problems.filter(problem => !REFUSED.test(problem))).toEqual([]);
  } finally {
    await view.close();
  }
}

/** Runs the command that the page shows, on the machine. */
async function runShown(page: Page): Promise<{ connecting: ConnectProcess; token: string }> {
  const shown = await page.inputValue('.shown-once textarea');
  const [, token = '', args = ''] = COMMAND.exec(shown) ?? [];
  if (token === '') throw new Error(`No command: ${shown}`);
  const connecting = stand.start(args.split(' '), { PORTICO_CONNECTOR_TOKEN: token });
  return { connecting, token };
}

const rowOf = (page: Page, name: string) => page.locator('tbody tr', { hasText: name });
const isConnected = (page: Page, name: string) =>
  rowOf(page, name).locator('.badge.good', { hasText: 'connected' }).waitFor(SOON);
const told = (page: Page, text: string) => page.waitForSelector(`.notice:focus >> text=${text}`);

it('[OPS-1] [CLI-1] adds one that connects with the command, replaces it by another, and revokes it, by mouse', async () => {
  await inMachines('', async (page, look) => {
    await page.click('text=Add a machine');
    await page.fill('#machine-name', 'build-box');
    await look('add');
    await page.click('text=Add it');
    await page.waitForSelector('.shown-once textarea:focus');
    await look('added');
    const first = await runShown(page);
    await isConnected(page, 'build-box');
    expect(await rowOf(page, 'build-box').textContent()).toContain('just now');
    await page.click('text=I have it');
    await told(page, 'The machine is below');
    expect(await page.content()).not.toContain(first.token);
    await page.reload();
    await isConnected(page, 'build-box');
    expect(await page.content()).not.toContain(first.token);
    expect(page.url()).not.toContain(first.token);

    await rowOf(page, 'build-box').getByRole('button', { name: 'New command' }).click();
    const dialog = page.locator('dialog[open]');
    expect(await dialog.textContent()).toContain('disconnected now');
    await dialog.getByRole('button', { name: 'New command' }).click();
    await page.waitForSelector('.shown-once textarea:focus');
    await expect(first.connecting.ended).resolves.toBe(3);
    const second = await runShown(page);
    expect(second.token).not.toBe(first.token);
    await second.connecting.says('connected as build-box');
    await isConnected(page, 'build-box');
    await page.setViewportSize({ width: 360, height: 900 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await look('shown-360-dark');
    const overflow = 'document.documentElement.scrollWidth - innerWidth';
    expect(await page.evaluate<number>(overflow)).toBe(0);

    await rowOf(page, 'build-box').getByRole('button', { name: 'Revoke' }).click();
    expect(await dialog.textContent()).toContain('cannot be reached');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await told(page, 'build-box is revoked');
    await expect(second.connecting.ended).resolves.toBe(3);
    await page.getByText('No machine offers').waitFor();
    expect(await page.content()).not.toContain(second.token);
  });
});

it('[OPS-1] adds and revokes one with the keyboard alone', async () => {
  await inMachines('', async page => {
    const keys = page.keyboard;
    const press = async (name: RegExp) => {
      await tabTo(page, name);
      await keys.press('Enter');
    };
    await page.getByText('Add a machine').waitFor();
    await press(/^Skip/);
    await press(/^Add a machine$/);
    await page.waitForSelector('h1:focus');
    await tabTo(page, /^Name$/);
    await keys.type('laptop');
    await keys.press('Enter');
    await page.waitForSelector('.shown-once textarea:focus');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const shown = await page.inputValue('.shown-once textarea');
    await press(/^Copy$/);
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shown);
    await press(/^I have it$/);
    await told(page, 'The machine is below');
    expect(await rowOf(page, 'laptop').textContent()).toContain('was never there');
    await press(/^Revoke$/);
    await page.waitForSelector('dialog[open]');
    await keys.press('Enter');
    await told(page, 'laptop is revoked');
    expect(await namesOf()).toEqual([]);
  });
});

it('[OPS-1] [SEC-7] says why a name is refused, as text, and keeps the input', async () => {
  await gateway.api('POST', CONNECTORS, { name: 'laptop' });
  await inMachines('?add=one', async (page, look) => {
    await page.fill('#machine-name', HOSTILE);
    await page.click('text=Add it');
    await page.waitForSelector('#machine-name-wrong');
    expect(await page.inputValue('#machine-name')).toBe(HOSTILE);
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(await page.locator('main img').count()).toBe(0);
    await page.fill('#machine-name', 'laptop');
    await page.click('text=Add it');
    await page.waitForSelector('[role=alert]:has-text("laptop")');
    await look('taken');
    expect(await page.inputValue('#machine-name')).toBe('laptop');
    expect(await namesOf()).toEqual(['laptop']);
  });
});

it('[OPS-1] [ACC-2] shows machines to a person who may read servers, without any action', async () => {
  await gateway.api('POST', CONNECTORS, { name: 'laptop' });
  await inMachines(
    '?add=one',
    async page => {
      await rowOf(page, 'laptop').waitFor();
      expect(await page.locator('main').getByRole('button').count()).toBe(0);
      expect(await page.getByText('Add a machine').count()).toBe(0);
    },
    viewer,
  );
});
