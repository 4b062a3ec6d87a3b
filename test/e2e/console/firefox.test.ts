/**
 * The console in Firefox: every view, narrow and wide, light and dark, with axe's findings, a sign-in with a token, and a call of a tool.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { COLOR_RULES, violationsOf } from '../support/axe.ts';
import { VIEWS } from '../support/console-views.ts';
import { startFirefox, type FirefoxPage } from '../support/firefox.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';

const ENTER = '\uE007';
const WIDTHS = [1440, 360];
const READY = `document.querySelector('main h1') && !document.querySelector('main .loading')`;

let gateway: Gateway;
let page: FirefoxPage;
let darkPage: FirefoxPage;
let admin = '';

beforeAll(async () => {
  const [started, light, dark, notes] = await Promise.all([
    startGateway({ env: QUIET }),
    startFirefox('light'),
    startFirefox('dark'),
    startFixture('rich-modern'),
  ]);
  [gateway, page, darkPage] = [started, light, dark];
  await gateway.register('notes', `${notes.origin}/mcp`);
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
  for (const each of [page, darkPage]) {
    await each.goto(`${gateway.origin}/console`);
    await each.click('[name=code]');
    await each.type(admin + ENTER);
    await each.until(`location.pathname.startsWith('/console')`);
  }
});

afterAll(async () => {
  await page?.close();
  await darkPage?.close();
  await gateway?.stop();
});

it('[OPS-1] [ACC-7] signs in with a pasted token', async () => {
  await page.until(READY);
  expect(await page.evaluate(`document.querySelector('main h1').textContent`)).toBe('Overview');
  const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
  expect(await page.evaluate(stored)).not.toContain(admin);
  expect(page.problems).toEqual([]);
});

it.each(VIEWS)(
  '[OPS-1] shows the view at /console%s, narrow and wide, and axe finds nothing',
  async path => {
    for (const width of WIDTHS) {
      await page.resize(width);
      await page.goto(`${gateway.origin}/console${path}`);
      await page.until(READY);
      const inner = await page.evaluate<number>('innerWidth');
      const overflow = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      const alerts = await page.evaluate<string[]>(
        `[...document.querySelectorAll('main [role=alert]')].map(({ textContent }) => textContent)`,
      );
      expect({ inner, overflow, alerts }).toEqual({ inner: width, overflow: 0, alerts: [] });
      const current = `document.querySelector('nav a[aria-current=page]').getAttribute('href')`;
      const [view = ''] = path.split('?');
      expect(await page.evaluate(current)).toBe(`/console${view || '/'}`);
      expect([width, await violationsOf(page.evaluate)]).toEqual([width, []]);
    }
    expect(page.problems).toEqual([]);
  },
);

it.each(VIEWS)('[OPS-1] axe finds nothing in the dark at /console%s', async path => {
  await darkPage.goto(`${gateway.origin}/console${path}`);
  await darkPage.until(READY);
  const isDark = `matchMedia('(prefers-color-scheme: dark)').matches`;
  expect(await darkPage.evaluate(isDark)).toBe(true);
  // The same elements have other colours, so only the colour rules are checked.
  expect(await violationsOf(darkPage.evaluate, COLOR_RULES)).toEqual([]);
  expect(darkPage.problems).toEqual([]);
});

it('[OPS-1] calls a tool with its form', async () => {
  await page.resize(1440);
  await page.goto(`${gateway.origin}/console/tools?tool=notes.echo`);
  // When the form appears, it moves the focus to its heading.
  await page.until(`document.activeElement.matches('section[aria-label="notes.echo"] h2')`);
  await page.click('[name=message]');
  await page.type('said by keys');
  await page.click('form:has([name=message]) [type=submit]');
  const answered = `document.querySelector('[aria-label=Result] pre')?.textContent.includes('said by keys')`;
  await page.until(answered);
  expect(page.problems).toEqual([]);
});
