/** The console in a real browser against a real gateway: its main tasks, its layout from 360 px up in both themes, and axe's findings. */
import type { Browser, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { COLOR_RULES } from '../support/axe.ts';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { VIEWS } from '../support/console-views.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { startOauthUpstream, type OauthUpstream } from '../support/oauth-upstream.ts';
import { signInThere } from '../support/sign-in-there.ts';

let gateway: Gateway;
let browser: Browser;
let notes: Upstream;
let tickets: OauthUpstream;
let admin = '';

beforeAll(async () => {
  [gateway, browser, notes, tickets] = await Promise.all([
    startGateway({ env: QUIET }),
    startBrowser(),
    startFixture('rich-modern'),
    startOauthUpstream(),
  ]);
  await gateway.register('notes', `${notes.origin}/mcp`);
  const server = { name: 'tickets', transport_type: 'HTTP', accounts: 'per_principal' };
  const connection_config = { url: tickets.url };
  await gateway.api('POST', '/api/v1/aggregator/servers', { ...server, connection_config });
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await tickets?.stop();
});

const SERVERS = '/api/v1/aggregator/servers';
const WIDTHS = [360, 768, 1440];
const THEMES = ['light', 'dark'] as const;

it.each(VIEWS)(
  '[OPS-1] the view at /console%s looks right from 360 px up, light and dark',
  async path => {
    const view = await openConsole(browser, gateway.origin, admin, `/console${path}`);
    const { page } = view;
    try {
      await page.waitForSelector('main:has(h1):not(:has(.loading))');
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        for (const theme of THEMES) {
          await page.emulateMedia({ colorScheme: theme });
          await picture(page, `console${path.replaceAll(/\W/g, '-')}-${width}-${theme}`);
          // In the dark the same elements have other colours, so only the colour rules are checked.
          const found = await view.violations(theme === 'dark' ? COLOR_RULES : undefined);
          expect([width, theme, found]).toEqual([width, theme, []]);
          const overflow = 'document.documentElement.scrollWidth - innerWidth';
          expect([width, theme, await page.evaluate<number>(overflow)]).toEqual([width, theme, 0]);
          // A table that must be scrolled sideways hides content.
          const cut = `[...document.querySelectorAll('.scroll')].filter(table => table.scrollWidth > table.clientWidth).map(table => table.ariaLabel)`;
          expect([width, await page.evaluate<string[]>(cut)]).toEqual([width, []]);
        }
      }
      expect(view.problems).toEqual([]);
    } finally {
      await view.close();
    }
  },
);

it('[OPS-1] keeps the open view visible on a narrow page, and starts the keyboard at its top', async () => {
  const view = await openConsole(browser, gateway.origin, admin, '/console/settings');
  const { page } = view;
  try {
    await page.setViewportSize({ width: 360, height: 900 });
    await page.reload();
    const inSight = `(() => {
      const { left, right } = document.querySelector('nav [aria-current]').getBoundingClientRect();
      return left >= 0 && right <= innerWidth;
    })()`;
    await page.waitForSelector('main:has(h1):not(:has(.loading))');
    await expect.poll(() => page.evaluate<boolean>(inSight)).toBe(true);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content');
  } finally {
    await view.close();
  }
});

it('[OPS-1] shows the servers, and what a server offers', async () => {
  const view = await openConsole(browser, gateway.origin, admin);
  try {
    const row = view.page.locator('tr', { hasText: 'notes' });
    expect(await row.textContent()).toContain('connected');
  } finally {
    await view.close();
  }
});

it('[OPS-1] [ACC-8] connects and disconnects an account, with the keyboard', async () => {
  const view = await openConsole(browser, gateway.origin, admin, '/console/accounts');
  const { page } = view;
  try {
    await tabTo(page, /^Connect$/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/connect\/tickets$/);
    await tabTo(page, /^Sign in at tickets$/);
    await page.keyboard.press('Enter');
    await signInThere(page, 'ada');
    await page.goto(`${gateway.origin}/console/accounts`);
    await page.waitForSelector('.badge.good');
    await tabTo(page, /^Disconnect$/);
    await page.keyboard.press('Enter');
    expect(await page.locator('dialog[open]').textContent()).toContain('there is revoked');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.notice:focus >> text=The account at tickets is disconnected');
    await page.waitForSelector('text=not connected');
    expect(tickets.revoked()).toBe(1);
  } finally {
    await view.close();
  }
});

it('[OPS-1] [ACC-8] shows an administrator their own accounts, and those of everybody page by page', async () => {
  const connect = (token: string) =>
    gateway.api('POST', '/api/v1/accounts', { server: 'tickets', token: 'a-token' }, token);
  const { token } = await gateway.createToken({ name: 'Bo' });
  expect([(await connect(admin)).status, (await connect(token)).status]).toEqual([201, 201]);
  const view = await openConsole(browser, gateway.origin, admin, '/console/settings');
  const { page } = view;
  try {
    // Pages of one account: the newest is not the administrator's.
    await page.route('**/api/v1/accounts?**', route => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', '1');
      return route.continue({ url: url.href });
    });
    await page.click('nav a:text-is("Accounts")');
    await page.waitForSelector('[aria-label="Accounts"] tbody button:text-is("Disconnect")');
    await page.waitForSelector('main >> text=1 of 2');
    await page.click('button:text-is("Load more")');
    await page.waitForSelector('main >> text=2 of 2');
    const whose = page.locator('[aria-label="Accounts of everybody"] tbody td:first-child');
    expect(await whose.allTextContents()).toEqual(['Bo', 'Ada']);
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] says what it left out: earlier calls, older accounts, more servers', async () => {
  const view = await openConsole(browser, gateway.origin, admin, '/console/settings');
  const { page } = view;
  const change = (path: string, by: (body: Record<string, unknown>) => object) =>
    page.route(
      ({ pathname }) => pathname === path,
      async route => {
        // The API takes a cookie only with this header, which only the browser adds.
        const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' };
        const response = await route.fetch({ headers });
        const body = (await response.json()) as Record<string, unknown>;
        await route.fulfill({ response, json: { ...body, ...by(body) } });
      },
    );
  try {
    await change('/api/v1/audit/counts', ({ until }) => ({ counted_since: until, parts: [] }));
    await change('/api/v1/accounts', () => ({ next_cursor: 'more' }));
    await change(SERVERS, ({ servers }) => ({ total: (servers as object[]).length + 3 }));
    await page.click('nav a:text-is("Overview")');
    await page
      .getByText(/^Nothing was called since .*; earlier calls are not counted\.$/)
      .waitFor();
    await page.getByText(/^Only your \d+ newest accounts were checked\./).waitFor();
    expect(await page.getByText('Nothing waits for you.').count()).toBe(0);
    await page.click('nav a:text-is("Approvals")');
    await page.locator('option:disabled:text-is("3 more are not offered here")').waitFor({
      state: 'attached',
    });
    expect(await view.violations()).toEqual([]);
    expect(view.problems).toEqual([]);
  } finally {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await view.close();
  }
});

it('[OPS-1] shows why there is no list, and does not wait for it any more', async () => {
  const view = await openConsole(browser, gateway.origin, admin, '/console/settings');
  const { page } = view;
  try {
    await page.route(`**${SERVERS}?**`, route => route.fulfill({ status: 422, body: '{}' }));
    await page.click('nav a:text-is("Servers")');
    await page.waitForSelector('main [role=alert]');
    expect(await page.locator('main .loading').count()).toBe(0);
  } finally {
    await view.close();
  }
});

it('[OPS-1] takes no input while a form is sent, and gives the focus back when it is refused', async () => {
  const view = await openConsole(browser, gateway.origin, admin, '/console/servers');
  const { page } = view;
  try {
    await page.click('main a:text-is("notes")');
    await page.click('button:text-is("Edit")');
    await page.fill('#server-name', 'no good name');
    const sent = Promise.withResolvers<Route>();
    await page.route(`**${SERVERS}/*`, route =>
      route.request().method() === 'PATCH' ? sent.resolve(route) : route.continue(),
    );
    await page.press('#server-name', 'Enter');
    const route = await sent.promise;
    await page.keyboard.type('!');
    expect(await page.inputValue('#server-name')).toBe('no good name');
    await route.continue();
    await page.waitForSelector('#server-name-wrong');
    await page.waitForSelector('#server-name:focus');
  } finally {
    await view.close();
  }
});

it('[OPS-1] says how long ago something was as time passes', async () => {
  const view = await openConsole(browser, gateway.origin, admin, '/console/connect');
  const { page } = view;
  try {
    await page.clock.install();
    await page.reload();
    const made = page.locator('tbody tr', { hasText: 'this sign-in' }).locator('time').first();
    await made.filter({ hasText: /now|minute/ }).waitFor();
    await page.clock.fastForward(3 * 3_600_000);
    await made.filter({ hasText: '3 hours ago' }).waitFor();
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] breaks long names on a narrow page, and scrolls long texts by keyboard', async () => {
  const server = { name: 'n'.repeat(50), transport_type: 'HTTP', description: 'long '.repeat(90) };
  const connection_config = { url: 'http://127.0.0.1:9/mcp' };
  const toolset = { name: 't'.repeat(60), include: ['*'] };
  const [{ json: made }, { json: selected }] = await Promise.all([
    gateway.api('POST', SERVERS, { ...server, connection_config }),
    gateway.api('POST', '/api/v1/toolsets', toolset),
  ]);
  const view = await openConsole(browser, gateway.origin, admin, '/console', { width: 360 });
  const { page } = view;
  try {
    for (const [path, text] of [
      ['', `.waiting >> text=${server.name}`],
      [`/servers?server=${String(made['id'])}`, `h1:text-is("${server.name}")`],
      [`/toolsets?toolset=${String(selected['id'])}`, `h1:text-is("${toolset.name}")`],
    ]) {
      await page.goto(`${gateway.origin}/console${path}`);
      await page.waitForSelector(`main:not(:has(.loading)) ${text}`);
      const overflow = 'document.documentElement.scrollWidth - innerWidth';
      expect([path, await page.evaluate<number>(overflow)]).toEqual([path, 0]);
      expect([path, await view.violations()]).toEqual([path, []]);
    }
  } finally {
    await view.close();
  }
});

it.each([
  ['/servers?server=', 'server'],
  ['/people?principal=', 'principal'],
  ['/people?tab=providers&provider=', 'provider'],
  ['/rules?rule=', 'rule'],
  ['/toolsets?toolset=', 'toolset'],
])('[OPS-1] leads from %snone back to the list', async (path, what) => {
  const view = await openConsole(browser, gateway.origin, admin, `/console${path}none`);
  const { page } = view;
  try {
    await page.waitForSelector(`h1:focus >> text=/^No such .*${what}$/`);
    expect(await view.violations()).toEqual([]);
    await page.click(`.back >> text=All ${what}s`);
    await page.waitForURL(url => !url.href.includes('none'));
  } finally {
    await view.close();
  }
});
