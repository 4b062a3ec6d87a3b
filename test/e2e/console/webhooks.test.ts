/** Webhooks in the console: one is created, edited, tested, sent events, given up and sent again, given another secret and deleted. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const CANARY = 'canary-in-address';
/** The browser logs the requests that the gateway refuses on purpose here. */
const REFUSED = /^Failed to load resource: .* status of (409|412|422) /;
/** Long enough for a busy machine. */
const SOON = { timeout: 60_000 };

let data: string;
let gateway: Gateway;
let browser: Browser;
let admin = '';
let port = 0;

const start = (adminToken?: string) =>
  startGateway({ data, env: QUIET, ...(adminToken === undefined ? {} : { adminToken }) });

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-webhooks-'));
  [gateway, browser, port] = await Promise.all([start(), startBrowser(), findFreePort()]);
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await rm(data, { recursive: true, force: true });
});

/** Opens the section, runs a test in it, and checks at the end that the page had no problems. */
async function inWebhooks(
  search: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const path = `/console/settings?section=webhooks${search}`;
  const view = await openConsole(browser, gateway.origin, admin, path);
  try {
    await act(view.page, async name => {
      await picture(view.page, `console-webhooks-${name}`);
      expect(await view.violations()).toEqual([]);
    });
    expect(view.problems.filter(problem => !REFUSED.test(problem))).toEqual([]);
  } finally {
    await view.close();
  }
}

const told = (page: Page, text: string) => page.waitForSelector(`.notice:focus >> text=${text}`);
const rowOf = (page: Page, name: string) => page.locator('tbody tr', { hasText: name });

const isTold = (page: Page) =>
  page.waitForSelector('form [role=alert] >> text=Somebody else changed this webhook');

async function made(name: string, more: object = {}): Promise<string> {
  const body = { name, url: `http://127.0.0.1:${port}/x`, events: ['server.down'], ...more };
  const { json } = await gateway.api('POST', '/api/v1/webhooks', body);
  return (json['webhook'] as { id: string }).id;
}

/** Marks all events as given up, as after a day of retries. */
async function giveUpAll(): Promise<number> {
  const files = await readdir(data, { recursive: true });
  const changed = files
    .filter(file => file.includes('D1') && file.endsWith('.sqlite'))
    .map(file => {
      const database = new DatabaseSync(join(data, file));
      try {
        const sql = `UPDATE webhook_deliveries SET state = 'dead', attempts = 16, ended_at = occurred_at + 86400000,
          problem = 'it cannot be reached' WHERE state = 'pending'`;
        return Number(database.prepare(sql).run().changes);
      } catch {
        return 0;
      } finally {
        database.close();
      }
    });
  return changed.reduce((sum, count) => sum + count, 0);
}

it('[OPS-1] [OPS-7] [SEC-1] creates one whose events are given up, sends one again, and deletes it', async () => {
  let secret = '';
  await inWebhooks('', async (page, look) => {
    await page.getByText('There are no webhooks').waitFor();
    await page.click('text=Add a webhook');
    await page.waitForSelector('h3:focus');
    await page.getByLabel('Name').fill('on-call');
    await page.getByLabel('Address').fill(`http://127.0.0.1:${port}/${CANARY}`);
    await page.getByLabel('a tool is held').uncheck();
    await look('add');
    await page.click('text=Add it');
    await page.waitForSelector('.shown-once textarea:focus');
    secret = await page.inputValue('.shown-once textarea');
    expect(secret).toMatch(/^whsec_/);
    await look('added');
    await page.click('text=I have it');
    await told(page, 'The webhook is below');
    expect(await rowOf(page, 'on-call').textContent()).toContain(`http://127.0.0.1:${port}`);
    const content = await page.content();
    expect([content.includes(secret), content.includes(CANARY)]).toEqual([false, false]);
    await page.click('tbody a');
    await page.waitForSelector('h3:focus');
    await page.click('text=Send a test');
    await told(page, 'The test was not delivered: it cannot be reached');
  });

  // Causes an event: a person signs in.
  const { token } = await gateway.createToken({ name: 'Bo' });
  await (await openConsole(browser, gateway.origin, token)).close();
  await gateway.stop();
  expect(await giveUpAll()).toBe(1);
  gateway = await start(gateway.adminToken);
  const receiver = await startWebhookReceiver(port, secret);
  await inWebhooks('', async (page, look) => {
    expect(await rowOf(page, 'on-call').locator('.badge.bad').textContent()).toBe('1');
    await look('list');
    await page.click('tbody a');
    await page.selectOption('text=State', 'dead');
    await rowOf(page, 'somebody signs in').waitFor();
    await look('dead');
    await page.setViewportSize({ width: 360, height: 900 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await look('dead-360-dark');
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await page.click('text=Send again');
    await told(page, 'It is tried again');
    await page.selectOption('text=State', 'delivered');
    await rowOf(page, 'somebody signs in').waitFor(SOON);
    expect(receiver.taken.map(({ body }) => body.type)).toEqual(['sign_in']);
    await page.click('text=Send a test');
    await told(page, 'The test was delivered: it answered 204');
  });
  await receiver.stop();
});

it('[OPS-1] turns one off and on, gives it another secret and deletes it, with the keyboard alone', async () => {
  const body = { name: 'chat', url: `http://127.0.0.1:${port}/x`, events: ['server.down'] };
  const { json } = await gateway.api('POST', '/api/v1/webhooks', body);
  const { id } = json['webhook'] as { id: string };
  await inWebhooks(`&webhook=${id}`, async page => {
    const keys = page.keyboard;
    const press = async (name: RegExp) => {
      await tabTo(page, name);
      await keys.press('Enter');
    };
    await page.waitForSelector('h3:focus');
    await press(/^Turn it off$/);
    await told(page, 'It is off');
    expect((await gateway.api('GET', `/api/v1/webhooks/${id}`)).json['enabled']).toBe(false);
    await press(/^Turn it on$/);
    await told(page, 'It is on');
    await press(/^New secret$/);
    await page.waitForSelector('dialog[open]');
    await keys.press('Enter');
    await page.waitForSelector('.shown-once textarea:focus');
    const secret = await page.inputValue('.shown-once textarea');
    expect([secret.startsWith('whsec_'), secret === json['secret']]).toEqual([true, false]);
    await press(/^I have it$/);
    await page.waitForSelector('h3:focus');
    await press(/^Delete$/);
    await page.waitForSelector('dialog[open]');
    await keys.press('Enter');
    await told(page, 'The webhook is deleted');
    expect((await gateway.api('GET', `/api/v1/webhooks/${id}`)).status).toBe(404);
  });
});

it('[OPS-1] says why one is refused, and keeps the input', async () => {
  await inWebhooks('&add=webhook', async page => {
    await page.getByLabel('Name').fill('two words');
    await page.getByLabel('Address').fill('nowhere');
    await page.click('text=Add it');
    await page.waitForSelector('.wrong');
    expect(await page.inputValue('main input:not([type=checkbox])')).toBe('two words');
  });
});

it('[OPS-1] [SEC-1] edits one, keeps the input on a conflicting edit, and says whose name is taken', async () => {
  const [id] = [await made('alerts'), await made('taken')];
  const path = `/api/v1/webhooks/${id}`;
  await inWebhooks(`&webhook=${id}`, async (page, look) => {
    const form = page.getByRole('form', { name: 'Edit it' });
    await page.click('button:text-is("Edit")');
    await form.locator('h3:focus').waitFor();
    await form.getByLabel('Name').fill('taken');
    await form.getByLabel('New address').fill(`http://127.0.0.1:${port + 1}/${CANARY}`);
    await form.getByLabel('many calls of somebody').check();
    await form.getByLabel('Report more refused').fill('7');
    await look('edit');
    await page.click('text=Save');
    await form.getByText('There is a webhook of this name already').waitFor();
    await form.getByLabel('Name').fill('pager');

    await gateway.api('PATCH', path, { format: 'slack' });
    await page.click('text=Save');
    await isTold(page);
    await look('edit-conflict');
    expect(await form.getByLabel('Name').inputValue()).toBe('pager');
    expect(await form.getByLabel('Receiver').inputValue()).toBe('slack');
    await page.click('text=Save over it');
    await told(page, 'It is saved');
    const content = await page.content();
    expect([content.includes('pager'), content.includes(CANARY)]).toEqual([true, false]);
    expect((await gateway.api('GET', path)).json).toMatchObject({
      name: 'pager',
      format: 'slack',
      origin: `http://127.0.0.1:${port + 1}`,
      events: ['server.down', 'denials.rate'],
      denials_over: 7,
    });
  });
});

it('[OPS-1] edits one with the keyboard alone, at 360 pixels, without changing its address', async () => {
  const id = await made('quiet', { enabled: false });
  await inWebhooks(`&webhook=${id}`, async (page, look) => {
    await page.setViewportSize({ width: 360, height: 900 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForSelector('h3:focus');
    await tabTo(page, /^Edit$/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('form h3:focus');
    await tabTo(page, /^Name$/);
    await page.keyboard.press('End');
    await page.keyboard.type('-one');
    await tabTo(page, /^a server answers again$/);
    await page.keyboard.press('Space');
    await look('edit-360-dark');
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await tabTo(page, /^Cancel$/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('button:text-is("Edit"):focus');
    await page.keyboard.press('Enter');
    await page.waitForSelector('form h3:focus');
    await tabTo(page, /^a server answers again$/);
    await page.keyboard.press('Space');
    await tabTo(page, /^Save$/);
    await page.keyboard.press('Enter');
    await told(page, 'It is saved');
    const { json } = await gateway.api('GET', `/api/v1/webhooks/${id}`);
    const origin = `http://127.0.0.1:${port}`;
    const events = ['server.down', 'server.up'];
    expect(json).toMatchObject({ name: 'quiet', origin, events, enabled: false });
  });
});
