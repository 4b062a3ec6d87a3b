/** Changes at the gateway appear in the console without a reload: through the event stream, or by polling where there is none. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway, type ServerRecord } from '../support/gateway.ts';

const EVENTS = '**/api/v1/events';
const LIST = '**/api/v1/aggregator/servers?**';
/** Long enough for a busy machine. */
const SOON = { timeout: 60_000 };

let gateway: Gateway;
let browser: Browser;
let notes: ServerRecord;
let origin = '';
let admin = '';

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ env: QUIET }), startBrowser()]);
  ({ origin } = await startFixture('rich-modern'));
  notes = await gateway.register('notes', `${origin}/mcp`);
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const stateOf = (page: Page) => page.locator('tbody tr', { hasText: 'notes' }).locator('.badge');
const act = (verb: string) => gateway.api('POST', `/api/v1/aggregator/servers/${notes.id}/${verb}`);

it('[OPS-1] shows from events that a server is gone and is back', async () => {
  const view = await openConsole(browser, gateway.origin, admin);
  const { page } = view;
  try {
    const streaming = page.waitForResponse(EVENTS);
    await page.reload();
    expect((await streaming).status()).toBe(200);
    await stateOf(page)
      .filter({ hasText: /^connected$/ })
      .waitFor(SOON);
    let asked = 0;
    await page.route(LIST, async route => {
      asked += 1;
      await route.continue();
    });
    await act('disconnect');
    await stateOf(page).filter({ hasText: 'disconnected' }).waitFor(SOON);
    await act('connect');
    await stateOf(page)
      .filter({ hasText: /^connected$/ })
      .waitFor(SOON);
    expect(asked).toBeGreaterThan(0);
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] polls while there are no events, and uses events again once there are', async () => {
  const view = await openConsole(browser, gateway.origin, admin);
  const { page } = view;
  try {
    await page.route(EVENTS, route => route.abort());
    await page.reload();
    await stateOf(page)
      .filter({ hasText: /^connected$/ })
      .waitFor(SOON);
    await act('disconnect');
    await stateOf(page).filter({ hasText: 'disconnected' }).waitFor(SOON);
    await page.unroute(EVENTS);
    const streaming = await page.waitForResponse(EVENTS, SOON);
    expect(streaming.status()).toBe(200);
    await act('connect');
    await stateOf(page)
      .filter({ hasText: /^connected$/ })
      .waitFor(SOON);
  } finally {
    await view.close();
  }
});

it('[OPS-1] stops requesting a server that it deletes, even if the event arrives first', async () => {
  const { id } = await gateway.register('old', `${origin}/mcp`);
  const view = await openConsole(browser, gateway.origin, admin, `/console/servers?server=${id}`);
  const { page } = view;
  try {
    let tell = () => {};
    const isGone = new Promise<void>(resolve => (tell = resolve));
    const body = 'event: changed\ndata: {"changed":["servers"]}\n\n';
    await page.route(EVENTS, async route => {
      await isGone;
      await route.fulfill({ contentType: 'text/event-stream', body });
    });
    const address = page.url();
    await page.goto('about:blank');
    await Promise.all([page.waitForRequest(EVENTS), page.goto(address)]);
    const path = `/api/v1/aggregator/servers/${id}`;
    await page.route(`**${path}`, async route => {
      if (route.request().method() !== 'DELETE') return route.continue();
      const { status } = await gateway.api('DELETE', path);
      // The next stream begins when this one has been read to its end.
      const isHeard = page.waitForRequest(EVENTS);
      tell();
      await isHeard;
      return route.fulfill({ status });
    });
    await page.click('button:text-is("Delete")');
    await page.click('dialog[open] button:text-is("Delete")');
    await page.waitForURL(/\/console\/servers$/);
    await page.waitForSelector('tbody tr:has-text("notes")');
    expect(await page.locator('tbody tr:has-text("old")').count()).toBe(0);
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] keeps saying that a server does not exist while an event makes it look again', async () => {
  const view = await openConsole(browser, gateway.origin, admin, '/console/servers?server=none');
  const { page } = view;
  try {
    const streaming = page.waitForResponse(EVENTS);
    await page.reload();
    await streaming;
    await page.waitForSelector('h1:has-text("No such server")');
    const again = Promise.withResolvers<void>();
    await page.route('**/servers/none', () => again.resolve());
    const path = `/api/v1/aggregator/servers/${notes.id}`;
    await gateway.api('PATCH', path, { description: 'Changed' });
    await again.promise;
    expect(await page.locator('main .loading').count()).toBe(0);
    expect(await page.locator('h1:focus').textContent()).toBe('No such server');
  } finally {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await view.close();
  }
});
