/** A server with hostile text everywhere: each view shows it as text, runs nothing, requests nothing, and keeps its layout. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { startHostile, type Hostile } from '../support/hostile-upstream.ts';
import { picture } from '../support/keyboard.ts';

const WIDTHS = [360, 1440];
/** The browser logs the errors of a tool. */
const REFUSED = /^Failed to load resource: .* status of (4|5)\d\d /;

let gateway: Gateway;
let browser: Browser;
let hostile: Hostile;
let admin = '';
let serverId = '';

beforeAll(async () => {
  [gateway, browser, hostile] = await Promise.all([
    startGateway({ env: QUIET }),
    startBrowser(),
    startHostile(),
  ]);
  console.info(hostile.origin);
  serverId = (await gateway.register('hostile', hostile.url)).id;
  await gateway.api('POST', '/api/v1/aggregator/servers', {
    name: 'held',
    transport_type: 'HTTP',
    tool_approval: 'hold',
    connection_config: { url: hostile.url },
  });
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await hostile?.close();
});

/** What a hostile text may have caused. */
interface Harm {
  /** Scripts, dialogs, other windows and other pages. */
  ran: string[];
  /** Errors, and requests to other origins. */
  problems: string[];
  /** Elements wider than the page. */
  wider: string[];
}
const NONE: Harm = { ran: [], problems: [], wider: [] };

/** Opens a view and returns the harm found in it. */
async function harmOf(
  path: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
): Promise<Harm> {
  const view = await openConsole(browser, gateway.origin, admin, `/console${path}`);
  const { page, problems } = view;
  const ran: string[] = [];
  const wider: string[] = [];
  page.on('dialog', dialog => {
    ran.push(`${dialog.type()} ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', popup => ran.push(`popup ${popup.url()}`));
  page.on('framenavigated', frame => {
    if (!frame.url().startsWith(gateway.origin)) ran.push(`frame ${frame.url()}`);
  });
  const look = async (name: string) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const by = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      if (by > 0) wider.push(`${name} at ${width} by ${by}`);
    }
    await picture(page, `hostile-${name}`);
  };
  try {
    await page.exposeFunction('ran', () => ran.push('script'));
    await page.reload();
    await page.waitForSelector('main:has(h1):not(:has(.loading))');
    await act(page, look);
    return { ran, problems: problems.filter(problem => !REFUSED.test(problem)), wider };
  } finally {
    await view.close();
  }
}

it.each(['', '/approvals', '/servers', '/tools', '/accounts', '/activity', '/why'])(
  '[OPS-1] shows a hostile server as text in /console%s',
  async path => {
    expect(await harmOf(path, (_, look) => look(path.slice(1)))).toEqual(NONE);
  },
);

it('[OPS-1] shows a hostile server and its tools', async () => {
  const harm = await harmOf(`/servers?server=${serverId}`, async (page, look) => {
    await page.waitForSelector('.tools dt');
    await look('server');
  });
  expect(harm).toEqual(NONE);
});

it('[OPS-1] shows each held tool of a hostile server', async () => {
  const harm = await harmOf('/approvals', async (page, look) => {
    const rows = page.locator('section.held li summary');
    const count = await rows.count();
    expect(count).toBeGreaterThan(20);
    for (let at = 0; at < count; at += 1) {
      await rows.nth(at).click();
      await page.waitForSelector('details[open] .diff, details[open] .notice');
      await look(`held-${at}`);
    }
  });
  expect(harm).toEqual(NONE);
});

it('[OPS-1] builds forms from hostile schemas, and shows hostile results and errors', async () => {
  const harm = await harmOf('/tools', async (page, look) => {
    for (const at of hostile.texts.keys()) {
      await page.click(`.tools button:has(strong:text-is("hostile.tool_${at}"))`);
      await page.click('button:text("Call it")');
      await page.waitForSelector('section[aria-label=Result]');
      await look(`result-${at}`);
      await page.selectOption('[name=choice]', 'other');
      await page.click('button:text("Call it")');
      await page.waitForSelector('.problem');
      await look(`error-${at}`);
    }
  });
  expect(harm).toEqual(NONE);
});

it('[OPS-1] shows the calls to a hostile server, and how they ended', async () => {
  const harm = await harmOf('/activity?server=hostile', async (page, look) => {
    await page.click('tbody button:text("Details")');
    await page.waitForSelector('dialog[open]');
    await look('activity-row');
  });
  expect(harm).toEqual(NONE);
});

it('[OPS-1] shows a page of a hostile server without running or loading any of it', async () => {
  const path = '/console/tools?tool=hostile.tool_10';
  const look = { hasPolicy: true };
  const view = await openConsole(browser, gateway.origin, admin, path, look);
  const { page, problems } = view;
  try {
    await page.click('button:text("Call it")');
    await page.click('summary:text("As a page")');
    const frame = page.frameLocator('iframe.page');
    await frame.locator('body').waitFor();
    expect(await frame.locator('img').count()).toBe(1);
    await page.waitForFunction('document.querySelector("iframe.page").contentDocument === null');
    const refused = /Content Security Policy|sandboxed/;
    const seen = () => [
      problems.filter(problem => problem.startsWith('asks')),
      problems.some(problem => refused.test(problem)),
    ];
    await expect.poll(seen).toEqual([[], true]);
  } finally {
    await view.close();
  }
});
