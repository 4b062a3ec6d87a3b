/** Settings of the deployment in the console: each section's main task, refused input, and hostile texts shown as text. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readWhole } from 'node:stream/consumers';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { holdRequest, openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { runPortico } from '../support/portico-command.ts';

/** More than one request re-encrypts. */
const SECRETS = 60;
const HOSTILE = '<img src=x onerror="window.hit=1">\u202Egnp';
const SHOWN = HOSTILE.replace('\u202E', '⟨U+202E⟩');
/** The browser logs the requests that the gateway refuses on purpose here. */
const REFUSED = /^Failed to load resource: .* status of (401|412|422|503) /;
const RULES = '/api/v1/cache/rules';
const SECTIONS = [
  'keys',
  'model',
  'cache',
  'cache&add=rule',
  'ask',
  'ask&add=entry',
  'transfer',
  'audit',
];

let data: string;
let gateway: Gateway;
let browser: Browser;
let admin = '';

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-settings-'));
  [gateway, browser] = await Promise.all([startGateway({ data, env: QUIET }), startBrowser()]);
  for (let n = 0; n < SECRETS; n += 1) {
    const body = { value: `value-${n}`, origins: ['https://mcp.example.com'] };
    await gateway.api('PUT', `/api/v1/secrets/S${n}`, body);
  }
  // From the next start on, another key is in the ring.
  await gateway.stop();
  const { code, err } = await runPortico(['keys', 'new', '--data', data], { env: {} });
  if (code !== 0) throw new Error(err);
  gateway = await startGateway({ data, adminToken: gateway.adminToken, env: QUIET });
  const notes = await startFixture('rich-modern');
  await gateway.register('notes', `${notes.origin}/mcp`);
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
  await gateway.createToken({ name: 'Bo' });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await rm(data, { recursive: true, force: true });
});

/** Opens a section, runs a test in it, and checks at the end that the page had no problems. */
async function inSection(
  section: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const path = `/console/settings?section=${section}`;
  const view = await openConsole(browser, gateway.origin, admin, path);
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

it('[OPS-1] look right at 360 px in the dark, and wide', async () => {
  await inSection('keys', async (page, look) => {
    for (const section of SECTIONS) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(`${gateway.origin}/console/settings?section=${section}`);
      await page.waitForSelector('main:has(h2):not(:has(.loading))');
      const name = section.replace('&', '-');
      await look(`${name}-1440`);
      await page.setViewportSize({ width: 360, height: 900 });
      await page.emulateMedia({ colorScheme: 'dark' });
      await look(`${name}-360-dark`);
      const overflow = 'document.documentElement.scrollWidth - innerWidth';
      expect([section, await page.evaluate<number>(overflow)]).toEqual([section, 0]);
    }
  });
});

it('[OPS-1] [SEC-1] keeps what is known of the keys where a refresh fails', async () => {
  await inSection('keys', async page => {
    await page.waitForSelector('tbody tr');
    await holdRequest(page, /\/keys\/rotate$/, () => page.click('text=/^Put 6\\d records/'));
    const failed = { status: 503, json: { detail: 'Not now' } };
    await page.route(/\/api\/v1\/keys$/, route => route.fulfill(failed), { times: 1 });
    await page.click('button:text-is("Stop")');
    await page.waitForSelector('[role=alert] >> text=Not now');
    expect(await page.textContent('.notice')).toContain('Records that were moved stay moved');
    expect(await rowOf(page, 'k2').textContent()).toContain('active');
    await page.click('text=Try again');
    await page.waitForSelector('[role=alert]', { state: 'detached' });
  });
});

it('[OPS-1] [SEC-1] puts everything under the active key, with the keyboard', async () => {
  await inSection('keys', async (page, look) => {
    await page.waitForSelector('tbody tr');
    expect(await rowOf(page, 'k2').textContent()).toContain('active');
    await page.getByText(/^Put 6\d records under the active key$/).waitFor();
    await press(page, /^Skip/);
    await press(page, /^Put 6\d records under the active key$/);
    await told(page, 'everything that is sealed is under k2');
    await look('rotated');
    const row = rowOf(page, 'k2');
    await expect.poll(() => row.textContent()).toContain(`active${SECRETS}`);
    const { json } = await gateway.api('GET', '/api/v1/keys');
    expect(json).toMatchObject({ active: 'k2', remaining: 0 });
  });
});

it('[OPS-1] [LLM-5] adds, edits and deletes a rule of the cache, and keeps the input', async () => {
  await inSection('cache', async (page, look) => {
    await page.getByText('Add a rule').waitFor();
    await press(page, /^Skip/);
    await press(page, /^Add a rule$/);
    await page.waitForSelector('h3:focus');
    await tabTo(page, /^Server$/);
    await page.keyboard.type('notes');
    await tabTo(page, /^Tool$/);
    await page.keyboard.type('ec*');
    await tabTo(page, /^Why$/);
    await page.keyboard.type(HOSTILE);
    await page.keyboard.press('Tab');
    await press(page, /^Save$/);
    await told(page, 'The rule is added');
    const row = await rowOf(page, 'ec*').textContent();
    for (const part of ['notes', '5 min', 'each principal its own', SHOWN]) {
      expect(row).toContain(part);
    }
    await isText(page);
    await look('cache-rule');

    await rowOf(page, 'ec*').getByText('Edit').click();
    await page.fill('#rule-seconds', '60');
    const [rule] = (await gateway.api('GET', RULES)).json['rules'] as [{ id: string }];
    const theirs = { ttl_seconds: 7, description: 'Of another' };
    await gateway.api('PATCH', `${RULES}/${rule.id}`, theirs);
    await page.click('button:text("Save")');
    await page.waitForSelector('[role=alert] >> text=(seconds, description)');
    await look('cache-conflict');
    const shown = ['#rule-seconds', '#rule-why'].map(field => page.inputValue(field));
    expect(await Promise.all(shown)).toEqual(['60', 'Of another']);
    await page.click('text=Save over it');
    await told(page, 'The rule is saved');
    const saved = await gateway.api('GET', `${RULES}/${rule.id}`);
    expect(saved.json).toMatchObject({ ttl_seconds: 60, description: 'Of another' });
    await confirm(page, 'ec*', 'Delete');
    await told(page, 'The rule is deleted');
    await page.getByText('There is no rule').waitFor();
  });
});

it('[OPS-1] [LLM-4] allows tools for ask, and says why an entry is refused', async () => {
  await inSection('ask&add=entry', async (page, look) => {
    await page.selectOption('#ask-who', 'principal');
    await page.getByLabel('Name', { exact: true }).fill('Nobody');
    await page.getByLabel('Server', { exact: true }).fill('*');
    await page.getByLabel('Tool', { exact: true }).fill('echo');
    await page.getByLabel('Also if the tool may change').check();
    await page.fill('#ask-why', HOSTILE);
    await page.click('text=Allow it');
    await page.waitForSelector('[role=alert] >> text=nobody with this name');
    const names = await Promise.all(
      [1, 2].map(() => gateway.api('POST', '/api/v1/principals', { name: 'Twice' })),
    );
    await page.getByLabel('Name', { exact: true }).fill('Twice');
    await page.click('text=Allow it');
    await page.waitForSelector('[role=alert] >> text=Several have this name');
    for (const { json } of names) {
      await gateway.api('DELETE', `/api/v1/principals/${String(json['id'])}`);
    }
    await page.getByLabel('Name', { exact: true }).fill('Bo');
    await page.click('text=Allow it');
    await page.waitForSelector('[role=alert] >> text=name one server and one tool');
    await look('ask-refused');
    expect(await page.inputValue('#ask-why')).toBe(HOSTILE);
    await page.getByLabel('Server', { exact: true }).fill('notes');
    await page.click('text=Allow it');
    await told(page, 'Ask may call it now');
    expect(await rowOf(page, 'notes').textContent()).toContain(SHOWN);
    await isText(page);
    await confirm(page, 'notes', 'Delete');
    await told(page, 'may no longer call it');
    expect((await gateway.api('GET', '/api/v1/ask/allowlist')).json['entries']).toEqual([]);
  });
});

it('[OPS-1] [REG-6] saves the servers as a file that can be imported', async () => {
  await inSection('transfer', async page => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('text=Save the servers as a file'),
    ]);
    await told(page, 'A file with 1 server');
    const text = await readWhole(await download.createReadStream());
    await page.click('text=Add servers from a file');
    await page.fill('#import-text', text);
    await page.click('text=Show what would be done');
    expect(await rowOf(page, 'notes').textContent()).toContain('is left out');
  });
});

it('[OPS-1] [SEC-6] verifies every chain of the audit, and says where one is broken', async () => {
  await inSection('audit', async (page, look) => {
    await page.click('text=Check every chain');
    await page.waitForSelector('.notice:focus >> text=/^All \\d+ chains are unaltered/');
    expect(await rowOf(page, 'admin').first().textContent()).toMatch(/whole\d+ [0-9a-f]{64}/);
    // The gateway's response after somebody changed the database.
    const head = { seq: 9, hash: 'ab'.repeat(32) };
    const json = { shard: 'admin', rows: 6, is_intact: false, first_broken_seq: 7, head };
    await page.route(/\/audit\/verify\?shard=admin&/, route => route.fulfill({ json }));
    await page.click('text=Check every chain');
    await told(page, '1 of');
    expect(await rowOf(page, 'broken').textContent()).toContain('broken from 7 on');
    await look('audit-broken');
  });
});
