/**
 * Who called what, and why somebody may not: found in the console by mouse and with the keyboard alone, with hostile names shown as text.
 */
import { text as readWhole } from 'node:stream/consumers';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, until } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';

const HOSTILE = '<img src=x onerror="window.hit=1">\u202Egnp';
const SHOWN = HOSTILE.replace('\u202E', '⟨U+202E⟩');
const CALLS = 120;
/** Long enough for a busy machine. */
const SOON = { timeout: 60_000 };
const AUDIT = '/api/v1/audit';

let gateway: Gateway;
let browser: Browser;
let admin = '';
let bo = '';

const call = (name: string, token: string) =>
  gateway.api('POST', '/api/v1/tools/call', { name, arguments: { text: 'hello' } }, token);
const events = async (query: string) =>
  (await gateway.api('GET', `${AUDIT}?${query}`)).json['events'] as object[];
const deny = () =>
  gateway.api('POST', '/api/v1/access/rules', {
    effect: 'deny',
    subject: { kind: 'group', name: 'interns' },
    server: 'notes',
    tool: 'ec*',
    description: 'Not before the course',
  });

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
  const { json } = await gateway.api('POST', '/api/v1/principals', {
    name: 'Bo',
    groups: ['interns'],
  });
  bo = (
    await gateway.createToken({ name: 'laptop', principal: json['id'], scopes: scopes.slice(1) })
  ).token;
  await deny();
  for (let n = 0; n < CALLS; n += 1) await call('notes.echo', admin);
  await call('notes.echo', bo);
  await call(`notes.${HOSTILE}`, admin);
  await until('the calls are recorded', 60_000, async () =>
    (await events('action=tool.call&limit=500')).length === CALLS + 2 ? true : undefined,
  );
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const open = (path: string, token = admin) =>
  openConsole(browser, gateway.origin, token, `/console${path}`);
const rows = (page: Page) => page.locator('tbody tr');

it('[OPS-1] [SEC-6] finds a refused call, its details, and what to change, by mouse', async () => {
  const { page, problems, violations, close } = await open('/activity');
  try {
    await page.getByLabel('Who').fill('Bo');
    await page.getByLabel('How it ended').selectOption('refused');
    await expect.poll(() => rows(page).count(), SOON).toBe(1);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      principal: 'Bo',
      outcome: 'denied',
    });
    const row = await rows(page).textContent();
    for (const part of ['Bo', 'called a tool', 'notes.echo', 'refused'])
      expect(row).toContain(part);
    await page.getByRole('button', { name: 'Details' }).click();
    const dialog = await page.locator('dialog[open]').textContent();
    for (const part of [
      'laptop',
      'hidden, or does not exist',
      'tool_not_found',
      'Came by',
      'rest',
    ]) {
      expect(dialog).toContain(part);
    }
    expect(await violations()).toEqual([]);
    await picture(page, 'activity-row');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'Why?' }).click();
    await page.getByText('Bo may not call notes.echo').waitFor();
    await page.getByText('Denies the group').waitFor();
    expect(await violations()).toEqual([]);
    await picture(page, 'why');
    const step = await page.locator('.decides').textContent();
    expect(step).toContain(
      'Denies the group interns the tools ec* of notes: Not before the course',
    );
    expect(step).toContain('Change or delete the rule');
    // A change made elsewhere appears by itself.
    const rule = (await gateway.api('GET', '/api/v1/access/rules')).json['rules'] as [
      { id: string },
    ];
    await gateway.api('DELETE', `/api/v1/access/rules/${rule[0].id}`);
    await page.getByText('Bo may call notes.echo').waitFor();
    await deny();
    expect(problems).toEqual([]);
  } finally {
    await close();
  }
});

it('[OPS-1] [SEC-6] does the same with the keyboard alone', async () => {
  const { page, close } = await open('/activity');
  const { keyboard } = page;
  const begin = async () => {
    await tabTo(page, /^Skip/);
    await keyboard.press('Enter');
  };
  try {
    await page.waitForSelector('tbody tr');
    await begin();
    await tabTo(page, /^Who$/);
    await keyboard.type('Bo');
    await keyboard.press('Enter');
    await expect.poll(() => rows(page).count(), SOON).toBe(1);
    await tabTo(page, /^Details$/);
    await keyboard.press('Enter');
    await page.waitForSelector('dialog[open] h2:focus');
    expect(new URL(page.url()).searchParams.get('row')).not.toBeNull();
    await keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).searchParams.get('row'), SOON).toBeNull();
    await page.goto(`${gateway.origin}/console/why`);
    await page.waitForSelector('form.question');
    await begin();
    await tabTo(page, /^Who$/);
    await keyboard.type('Bo');
    await tabTo(page, /^Server$/);
    await keyboard.type('notes');
    await tabTo(page, /^Tool$/);
    await keyboard.type('echo');
    await keyboard.press('Enter');
    await page.getByText('Bo may not call notes.echo').waitFor();
  } finally {
    await close();
  }
});

it('[OPS-1] loads more rows and exports all matches', async () => {
  const { page, close } = await open('/activity?kind=calls&server=notes');
  try {
    await expect.poll(() => rows(page).count(), SOON).toBe(100);
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(() => rows(page).count(), SOON).toBe(CALLS + 2);
    expect(await page.getByRole('img').getAttribute('aria-label')).toMatch(/^122 rows, 2 of them/);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export all that match' }).click(),
    ]);
    const lines = (await readWhole(await download.createReadStream())).trim().split('\n');
    expect(lines).toHaveLength(CALLS + 2);
  } finally {
    await close();
  }
});

it('[OPS-1] [SEC-6] keeps a row open that is no longer among the newest', async () => {
  const { page, close } = await open('/activity?kind=calls&server=notes');
  try {
    await rows(page).last().getByText('Details').click();
    const id = new URL(page.url()).searchParams.get('row') ?? '';
    await page.waitForSelector(`dialog[open] >> text=${id}`);
    const isRead = page.waitForResponse(async answer =>
      /\/audit\?/.test(answer.url()) ? !(await answer.text()).includes(id) : false,
    );
    await call('notes.echo', admin);
    await isRead;
    await expect.poll(() => page.locator(`tbody tr`).count()).toBe(100);
    expect(await page.locator('dialog[open]').textContent()).toContain(id);
    await page.click('dialog[open] button:text-is("Close")');
    await page.waitForSelector('dialog', { state: 'detached' });
  } finally {
    await close();
  }
});

it('[OPS-1] [SEC-6] shows on the overview what was refused today, to each person what they may see', async () => {
  for (const [token, refused] of [
    [admin, 2],
    [bo, 1],
  ] as const) {
    const { page, problems, violations, close } = await open('', token);
    try {
      const plot = page.getByRole('img', { name: /refused/ });
      const says = new RegExp(`^${refused} calls? refused from`);
      await expect.poll(() => plot.getAttribute('aria-label'), SOON).toMatch(says);
      expect(await plot.locator('rect.badly').count()).toBeGreaterThan(0);
      expect(await violations()).toEqual([]);
      await picture(page, `overview-today-${refused}`);
      expect(problems).toEqual([]);
    } finally {
      await close();
    }
  }
});

it("[OPS-1] [SEC-7] shows others' names as text, with invisible characters made visible", async () => {
  const { page, problems, close } = await open('/activity?kind=calls&outcome=denied');
  try {
    const row = page.locator('tbody tr', { hasText: SHOWN });
    await row.waitFor();
    await row.getByRole('button', { name: 'Details' }).click();
    await page
      .locator('dialog[open]', { hasText: SHOWN })
      .getByText('Why may they, or not?')
      .click();
    await page.locator('h2', { hasText: SHOWN }).waitFor();
    const advice = page.locator('.decides .notice');
    expect(await advice.getByRole('link').getAttribute('href')).toBe('/console/servers');
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(await page.locator('main img').count()).toBe(0);
    expect(problems).toEqual([]);
  } finally {
    await close();
  }
});

it('[OPS-1] [SEC-6] [ACC-9] shows a member their own calls, and makes no request that is refused', async () => {
  const refused = await events('action=rest.read&limit=500');
  const { page, problems, violations, close } = await open('/activity', bo);
  try {
    await expect.poll(() => rows(page).count(), SOON).toBe(2);
    const [signIn, called] = await rows(page).allTextContents();
    expect(signIn).toContain('signed in');
    for (const part of ['Bo', 'notes.echo', 'refused']) expect(called).toContain(part);
    expect(await page.getByLabel('Who').count()).toBe(0);
    expect(await page.getByRole('link', { name: /^Why/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Details' }).last().click();
    expect(await page.locator('dialog[open]').textContent()).toContain('tool_not_found');
    expect(await violations()).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    const server = page.getByLabel('Server', { exact: true });
    await server.fill('elsewhere');
    await server.press('Enter');
    await page.getByText('Nothing matches.').waitFor();
    expect(problems).toEqual([]);
    expect(await events('action=rest.read&limit=500')).toEqual(refused);
    await page.goto(`${gateway.origin}/console/why`);
    await page.getByText('There is no such view for you').waitFor();
  } finally {
    await close();
  }
});
