/**
 * Usage and budgets in the console: who called what, and a budget that is set, reached, changed and deleted; by mouse and with the
 * keyboard.
 */
import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, until } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';

const WAIT_MS = 60_000;
const DAY_MS = 86_400_000;
const HOSTILE = '<img src=x onerror="window.hit=1">\u202Egnp';
const SHOWN = HOSTILE.replace('\u202E', '⟨U+202E⟩');
/** The browser logs the requests that the gateway refuses on purpose here. */
const REFUSED = /^Failed to load resource: .* status of 4(04|09|12|22) /;
const BUDGETS = '/api/v1/budgets';

let gateway: Gateway;
let browser: Browser;
let admin = '';
let member = '';

const call = (token: string, name = 'notes.echo') =>
  gateway.api('POST', '/api/v1/tools/call', { name, arguments: { message: 'a' } }, token);
async function tokenOf(name: string, groups: string[]): Promise<string> {
  const { json } = await gateway.api('POST', '/api/v1/principals', { name, groups });
  const scopes = ['tools:read', 'tools:call'];
  const made = await gateway.createToken({ name: 'laptop', principal: json['id'], scopes });
  return made.token;
}

beforeAll(async () => {
  // Calls that are stored before they are sent are counted at once.
  const env = { ...QUIET, PORTICO_AUDIT_CALLS: 'before' };
  [gateway, browser] = await Promise.all([startGateway({ env }), startBrowser()]);
  const notes = await startFixture('rich-modern');
  await gateway.register('notes', `${notes.origin}/mcp`);
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
  member = await tokenOf('Ria', ['members']);
  const hostile = await tokenOf(HOSTILE, ['guests']);
  for (const token of [member, member, member, hostile]) await call(token);
  await call(member, 'notes.nothing');
  await until('all calls are counted', WAIT_MS, async () => {
    const { json } = await gateway.api('GET', '/api/v1/usage?by=day');
    const [day] = json['usage'] as { calls: number }[];
    return day?.calls === 5 ? day : undefined;
  });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** Opens the view, runs a test in it, and checks at the end that the page had no problems. */
async function inUsage(
  search: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
  token = admin,
): Promise<void> {
  const view = await openConsole(browser, gateway.origin, token, `/console/usage${search}`);
  try {
    await act(view.page, async name => {
      await picture(view.page, `console-usage-${name}`);
      expect(await view.violations()).toEqual([]);
    });
    expect(view.problems.filter(problem => !REFUSED.test(problem))).toEqual([]);
  } finally {
    await view.close();
  }
}

const rowOf = (page: Page, name: string) => page.locator('tbody tr', { hasText: name });
const told = (page: Page, text: string) => page.waitForSelector(`.notice:focus >> text=${text}`);
const cells = async (page: Page, name: string): Promise<string[]> =>
  (await rowOf(page, name).locator('td').allTextContents()).slice(0, 3);

it('[OPS-1] [OPS-7] shows the days up to today on a page that stays open past midnight', async () => {
  await inUsage('', async page => {
    await page.clock.install();
    const from = (request: Request) =>
      Date.parse(new URL(request.url()).searchParams.get('from') ?? '');
    // For a moment after a reload the installed clock may stand at 1970.
    const first = page.waitForRequest(
      request => request.url().includes('/usage?') && from(request) > Date.now() - 60 * DAY_MS,
    );
    await page.reload();
    const before = from(await first);
    await rowOf(page, 'notes.echo').waitFor();
    const next = page.waitForRequest(
      request => request.url().includes('/usage?') && from(request) > before,
    );
    await page.clock.fastForward(DAY_MS);
    expect(from(await next) - before).toBe(DAY_MS);
  });
});

it('[OPS-1] [OPS-7] shows who called what how often, and exports it, by mouse', async () => {
  await inUsage('', async (page, look) => {
    await rowOf(page, 'notes.echo').waitFor();
    expect(await cells(page, 'notes.echo')).toEqual(['4', '0', '0']);
    expect(await cells(page, 'refused before a server was known')).toEqual(['1', '0', '1']);
    expect(await page.locator('figcaption').textContent()).toContain('5 calls, 1 of them refused');
    await look('by-tool');
    await page.selectOption('text=By', 'principal');
    await rowOf(page, 'Ria').waitFor();
    expect(await cells(page, 'Ria')).toEqual(['4', '0', '1']);
    await rowOf(page, SHOWN).waitFor();
    expect(await page.evaluate('window.hit')).toBeUndefined();
    await look('by-principal');
    await page.click('tbody a:has-text("Ria")');
    await page.waitForSelector('.notice >> text=Only calls of Ria');
    await rowOf(page, 'notes.echo').waitFor();
    expect(await cells(page, 'notes.echo')).toEqual(['3', '0', '0']);
    const csv = await page.getAttribute('text=Export as CSV', 'href');
    const table = await page.evaluate<string>(`fetch(${JSON.stringify(csv)}).then(a => a.text())`);
    expect(table).toMatch(/^day,.*tool,.*calls/);
    expect(table).toMatch(/,notes\.echo,tool\.call,3,0,0,/);
    await page.setViewportSize({ width: 360, height: 900 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await look('narrowed-360-dark');
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await page.click('text=All calls');
    await page.waitForFunction("!location.search.includes('principal')");
    expect(await cells(page, 'notes.echo')).toEqual(['4', '0', '0']);
    await page.selectOption('text=By', 'group');
    await rowOf(page, 'guests').waitFor();
    expect(await cells(page, 'members')).toEqual(['4', '0', '1']);
  });
});

it('[OPS-1] [ACC-9] shows people only their own calls', async () => {
  await inUsage(
    '?by=principal&tab=budgets',
    async (page, look) => {
      await rowOf(page, 'notes.echo').waitFor();
      expect(await cells(page, 'notes.echo')).toEqual(['3', '0', '0']);
      const options = await page.locator('main select').first().locator('option').allTextContents();
      expect(options).toEqual(['Tool', 'Server', 'Day']);
      expect(await page.locator('.tabs').count()).toBe(0);
      await look('member');
    },
    member,
  );
});

it('[OPS-1] [ACC-6] sets a budget, sees it used up, raises it and deletes it, with the keyboard alone', async () => {
  await inUsage('?tab=budgets', async (page, look) => {
    const keys = page.keyboard;
    const press = async (name: RegExp) => {
      await tabTo(page, name);
      await keys.press('Enter');
    };
    await page.getByText('Nobody has a budget').waitFor();
    await press(/^Skip/);
    await press(/^Set a budget$/);
    await page.waitForSelector('h1:focus');
    await tabTo(page, /^Group$/);
    await keys.type('members');
    await tabTo(page, /^Calls a day$/);
    await keys.press('ControlOrMeta+a');
    await keys.type('1');
    await look('budget-set');
    await keys.press('Enter');
    await told(page, 'The budget is set');
    const row = rowOf(page, 'everybody in members');
    await row.waitFor();
    expect((await call(member)).status).toBe(200);
    expect((await call(member)).status).toBe(429);
    await page.reload();
    await row.locator('.badge.bad').waitFor();
    await look('budgets');

    await press(/^Skip/);
    await press(/^Change the budget of everybody in members$/);
    await page.waitForSelector('h1:focus');
    const { json } = await gateway.api('GET', BUDGETS);
    const [{ id }] = json['budgets'] as [{ id: string }];
    await gateway.api('PATCH', `${BUDGETS}/${id}`, { calls_per_day: 2 });
    await tabTo(page, /^Calls a day$/);
    await keys.press('ControlOrMeta+a');
    await keys.type('5');
    await keys.press('Enter');
    await page.getByText('Somebody else changed this budget').waitFor();
    await look('budget-meanwhile');
    expect((await gateway.api('GET', `${BUDGETS}/${id}`)).json['calls_per_day']).toBe(2);
    await press(/^Save over it$/);
    await told(page, 'The budget is changed');
    expect((await gateway.api('GET', `${BUDGETS}/${id}`)).json['calls_per_day']).toBe(5);
    await press(/^Delete$/);
    await page.waitForSelector('dialog[open]');
    await keys.press('Enter');
    await told(page, 'The budget is deleted');
    expect((await gateway.api('GET', BUDGETS)).json['total']).toBe(0);
  });
});

it('[OPS-1] says why a budget is refused, and keeps the input', async () => {
  const subject = { kind: 'group', name: 'guests' };
  const made = await gateway.api('POST', BUDGETS, { subject, calls_per_day: 10 });
  await inUsage('?tab=budgets&add=one', async page => {
    await page.selectOption('text=Whose', 'principal');
    await page.getByLabel('Name, or id').fill('Nobody');
    await page.click('text=Set it');
    await page.waitForSelector('[role=alert]:has-text("nobody with this name")');
    await page.selectOption('text=Whose', 'group');
    await page.getByLabel('Group').fill('guests');
    await page.click('text=Set it');
    await page.waitForSelector('[role=alert]:has-text("already")');
    expect(await page.inputValue('input[type=number]')).toBe('1000');
  });
  await gateway.api('DELETE', `${BUDGETS}/${String(made.json['id'])}`);
});

it('[OPS-1] keeps the input for a budget that somebody else deletes', async () => {
  const subject = { kind: 'group', name: 'guests' };
  const made = await gateway.api('POST', BUDGETS, { subject, calls_per_day: 10 });
  const id = String(made.json['id']);
  await inUsage(`?tab=budgets&budget=${id}`, async page => {
    await page.fill('input[type=number]', '5');
    const refreshed = page.waitForResponse(
      async answer => answer.url().includes(`${BUDGETS}?`) && !(await answer.text()).includes(id),
      { timeout: WAIT_MS },
    );
    await gateway.api('DELETE', `${BUDGETS}/${id}`);
    await refreshed;
    await page.click('button:text-is("Save")');
    await page.waitForSelector('form [role=alert]');
    expect(await page.inputValue('input[type=number]')).toBe('5');
  });
});
