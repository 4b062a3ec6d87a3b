/**
 * Secrets in the console: added, replaced and deleted by mouse and with the keyboard alone; no value is ever shown, and a secret in use
 * cannot be deleted.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';

const SECRETS = '/api/v1/secrets';
const ORIGIN = 'https://mcp.example.com';
const VALUE = 'a-value-that-nobody-sees';
const HOSTILE = 'https://evil.example/<img src=x onerror="window.hit=1">';
/** The browser logs the requests that the gateway refuses on purpose here. */
const REFUSED = /^Failed to load resource: .* status of 4(09|12|22) /;

let gateway: Gateway;
let browser: Browser;
let keeper = '';
let member = '';

const put = (name: string, origins = [ORIGIN]) =>
  gateway.api('PUT', `${SECRETS}/${name}`, { value: VALUE, origins });
const namesOf = async () => {
  const { json } = await gateway.api('GET', SECRETS);
  return (json['secrets'] as { name: string }[]).map(({ name }) => name);
};
const isValue = async (name: string, value: string) => {
  const { json } = await gateway.api('POST', `${SECRETS}/compare`, { secrets: [{ name, value }] });
  return (json['same'] as string[]).includes(name);
};

beforeAll(async () => {
  const [started, opened, notes] = await Promise.all([
    startGateway({ env: QUIET }),
    startBrowser(),
    startFixture('rich-modern'),
  ]);
  [gateway, browser] = [started, opened];
  await put('NOTES_TOKEN', [notes.origin]);
  const headers = { 'x-notes': '${NOTES_TOKEN}' };
  await gateway.register('notes', `${notes.origin}/mcp`, { headers });
  const scopes = ['secrets:write', 'servers:read'];
  keeper = (await gateway.createToken({ name: 'Kim', scopes })).token;
  member = (await gateway.createToken({ name: 'Bo', scopes: ['tools:call'] })).token;
});

beforeEach(async () => {
  for (const name of await namesOf()) {
    if (name !== 'NOTES_TOKEN') await gateway.api('DELETE', `${SECRETS}/${name}`);
  }
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** Opens the view, runs a test in it, and checks at the end that the page had no problems. */
async function inSecrets(
  search: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const view = await openConsole(browser, gateway.origin, keeper, `/console/secrets${search}`);
  try {
    await act(view.page, async name => {
      await picture(view.page, `console-secrets-${name}`);
      expect(await view.violations()).toEqual([]);
    });
    expect(view.problems.filter(problem => !REFUSED.test(problem))).toEqual([]);
  } finally {
    await view.close();
  }
}

const rowOf = (page: Page, name: string) => page.locator('tbody tr', { hasText: name });
const told = (page: Page, text: string) => page.waitForSelector(`.notice:focus >> text=${text}`);

it('[OPS-1] [SEC-1] adds one, replaces its value and deletes it, by mouse', async () => {
  await inSecrets('', async (page, look) => {
    expect(await rowOf(page, 'NOTES_TOKEN').textContent()).toContain('notes');
    await page.click('text=Add a secret');
    await page.fill('#secret-name', 'HUB_TOKEN');
    await page.fill('#secret-value', VALUE);
    await page.fill('#secret-origins', `${ORIGIN}\nhttps://two.example.com`);
    await look('add');
    await page.click('text=Store it');
    await told(page, 'HUB_TOKEN is stored');
    const row = await rowOf(page, 'HUB_TOKEN').textContent();
    for (const part of [ORIGIN, 'https://two.example.com', 'no server', 'just now']) {
      expect(row).toContain(part);
    }
    expect(await isValue('HUB_TOKEN', VALUE)).toBe(true);

    await rowOf(page, 'HUB_TOKEN').getByText('Replace').click();
    await page.fill('#secret-value', 'another-value');
    expect(await page.inputValue('#secret-origins')).toBe(`${ORIGIN}\nhttps://two.example.com`);
    await page.click('text=Store it');
    await told(page, 'HUB_TOKEN is stored');
    expect(await isValue('HUB_TOKEN', 'another-value')).toBe(true);
    expect(await page.content()).not.toMatch(new RegExp(`${VALUE}|another-value`));
    expect(page.url()).not.toContain('value');

    await rowOf(page, 'HUB_TOKEN').getByRole('button', { name: 'Delete' }).click();
    await page.locator('dialog[open]').getByRole('button', { name: 'Delete' }).click();
    await told(page, 'HUB_TOKEN is deleted');
    expect(await rowOf(page, 'HUB_TOKEN').count()).toBe(0);
    expect(await namesOf()).toEqual(['NOTES_TOKEN']);
  });
});

it('[OPS-1] [SEC-1] does the same with the keyboard alone', async () => {
  await inSecrets('', async page => {
    const keys = page.keyboard;
    const press = async (name: RegExp) => {
      await tabTo(page, name);
      await keys.press('Enter');
    };
    await page.waitForSelector('tbody tr');
    await press(/^Skip/);
    await press(/^Add a secret$/);
    await page.waitForSelector('h1:focus');
    await tabTo(page, /^Name$/);
    await keys.type('A_KEY');
    await tabTo(page, /^Value$/);
    await keys.type(VALUE);
    await tabTo(page, /^Origins/);
    await keys.type(ORIGIN);
    await press(/^Store it$/);
    await told(page, 'A_KEY is stored');
    await press(/^Replace A_KEY$/);
    await page.waitForSelector('h1:focus');
    await tabTo(page, /^New value$/);
    await keys.type('another-value');
    await keys.press('Enter');
    await told(page, 'A_KEY is stored');
    expect(await isValue('A_KEY', 'another-value')).toBe(true);
    // The first row is that of A_KEY.
    await press(/^Delete$/);
    await page.waitForSelector('dialog[open]');
    await keys.press('Enter');
    await told(page, 'A_KEY is deleted');
    expect(await namesOf()).toEqual(['NOTES_TOKEN']);
  });
});

it('[OPS-1] [SEC-1] says why a secret that a server uses is not deleted', async () => {
  await inSecrets('', async (page, look) => {
    const row = rowOf(page, 'NOTES_TOKEN');
    await row.waitFor();
    await page.setViewportSize({ width: 360, height: 900 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await look('list-360-dark');
    const overflow = 'document.documentElement.scrollWidth - innerWidth';
    expect(await page.evaluate<number>(overflow)).toBe(0);
    await row.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.locator('dialog[open]');
    expect(await dialog.textContent()).toContain('is used by notes');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('Servers refer to it: notes').waitFor();
    await look('refused');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await row.getByRole('link', { name: 'notes', exact: true }).click();
    await page.waitForURL(/\/console\/servers\?server=/);
    expect(await namesOf()).toEqual(['NOTES_TOKEN']);
  });
});

describe('[OPS-1] [SEC-1] the input is kept', () => {
  it('if the gateway refuses an origin, which is shown as text', async () => {
    await inSecrets('?add=one', async (page, look) => {
      await page.fill('#secret-name', 'no good name');
      await page.fill('#secret-value', VALUE);
      await page.fill('#secret-origins', HOSTILE);
      await page.click('text=Store it');
      await page.waitForSelector('#secret-name-wrong');
      await page.fill('#secret-name', 'GOOD');
      await page.click('text=Store it');
      await page.waitForSelector('#secret-origins-wrong');
      await look('wrong');
      expect(await page.inputValue('#secret-value')).toBe(VALUE);
      expect(await page.inputValue('#secret-origins')).toBe(HOSTILE);
      expect(await page.evaluate('window.hit')).toBeUndefined();
      expect(await page.locator('main img').count()).toBe(0);
    });
  });

  it('if a secret with the name exists already, which is not replaced', async () => {
    await put('HUB_TOKEN');
    await inSecrets('?add=one', async page => {
      await page.fill('#secret-name', 'HUB_TOKEN');
      await page.fill('#secret-value', 'typed-here');
      await page.fill('#secret-origins', ORIGIN);
      await page.click('text=Store it');
      await page.waitForSelector('#secret-name-wrong >> text=already');
      expect(await page.inputValue('#secret-value')).toBe('typed-here');
      expect(await isValue('HUB_TOKEN', VALUE)).toBe(true);
    });
  });

  it('if somebody else replaced it meanwhile, which is reported first', async () => {
    await put('HUB_TOKEN');
    await inSecrets('?secret=HUB_TOKEN', async (page, look) => {
      await page.fill('#secret-value', 'typed-here');
      await put('HUB_TOKEN', ['https://theirs.example.com']);
      await page.click('text=Store it');
      await page.waitForSelector('[role=alert] >> text=for https://theirs.example.com');
      await look('conflict');
      expect(await page.inputValue('#secret-value')).toBe('typed-here');
      expect(await isValue('HUB_TOKEN', VALUE)).toBe(true);
      await page.click('text=Store it anyway');
      await told(page, 'HUB_TOKEN is stored');
      expect(await isValue('HUB_TOKEN', 'typed-here')).toBe(true);
    });
  });

  it('if somebody else deleted it meanwhile, until the form is closed', async () => {
    await put('HUB_TOKEN');
    await inSecrets('?secret=HUB_TOKEN', async page => {
      await page.fill('#secret-value', 'typed-here');
      await gateway.api('DELETE', `${SECRETS}/HUB_TOKEN`);
      await page.click('text=Store it');
      await page.waitForSelector('[role=alert] >> text=It was deleted meanwhile');
      expect(await page.inputValue('#secret-value')).toBe('typed-here');
      expect(await namesOf()).toEqual(['NOTES_TOKEN']);
      await page.click('text=Cancel');
      await page.getByText('Add a secret').waitFor();
      await page.goBack();
      await page.getByText('This secret no longer exists').waitFor();
    });
  });
});

it('[OPS-1] [ACC-2] is hidden from members, to whom the API shows no secrets', async () => {
  const { page, close } = await openConsole(browser, gateway.origin, member, '/console/secrets');
  try {
    await page.getByText('There is no such view for you').waitFor();
    expect(await page.getByRole('link', { name: 'Secrets' }).count()).toBe(0);
  } finally {
    await close();
  }
});
