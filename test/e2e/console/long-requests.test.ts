/** The console while a request takes long, and where it fails: what was typed and shown stays, and so does the focus. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEverything, type Upstream } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { holdRequest, openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { tabTo } from '../support/keyboard.ts';

/** The browser logs the requests that fail on purpose here. */
const FAILED = /^Failed to load resource: /;

let gateway: Gateway;
let browser: Browser;
let everything: Upstream;
let admin: { id: string; token: string; principal?: string };

beforeAll(async () => {
  [gateway, browser, everything] = await Promise.all([
    startGateway({ env: QUIET }),
    startBrowser(),
    startEverything('streamableHttp'),
  ]);
  await gateway.register('things', `${everything.origin}/mcp`);
  admin = await gateway.createToken({ name: 'Kim', scopes: ['admin', 'tools:read', 'tools:call'] });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** Opens a view, runs a test in it, and checks at the end that the page had no other problems. */
async function inConsole(path: string, work: (page: Page) => Promise<void>): Promise<void> {
  const view = await openConsole(browser, gateway.origin, admin.token, `/console${path}`);
  try {
    await work(view.page);
    expect(view.problems.filter(problem => !FAILED.test(problem))).toEqual([]);
  } finally {
    await view.close();
  }
}

/** Fails the next request to an address. */
const failOnce = (page: Page, address: RegExp, status = 503): Promise<unknown> =>
  page.route(
    address,
    route =>
      route.fulfill({
        status,
        contentType: 'application/problem+json',
        body: JSON.stringify({ status, code: 'busy', detail: 'The gateway is busy' }),
      }),
    { times: 1 },
  );

/** What the focused element is called. */
const focused = (page: Page) =>
  page.evaluate<string>(
    'document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent',
  );

/** Tries to type into a field. @returns what it holds then */
async function typeInto(page: Page, label: string, text: string): Promise<string> {
  const field = page.getByLabel(label, { exact: true });
  await field.evaluate('field => field.focus()');
  await page.keyboard.type(text);
  return field.inputValue();
}

it('[OPS-1] takes no input while a token is made, and gives the focus back if it is refused', async () => {
  await inConsole('/connect?with=token', async page => {
    await page.fill('.make-token input', 'laptop');
    const go = await holdRequest(page, /\/tokens$/, () => page.click('text=Make a token'));
    expect(await typeInto(page, 'Name of the token', 'x')).toBe('laptop');
    await go();
    await page.click('text=I have it');
    await failOnce(page, /\/tokens$/);
    await tabTo(page, /^Make a token$/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.make-token [role=alert]');
    await expect.poll(() => focused(page)).toBe('Make a token');
  });
});

it('[OPS-1] [REG-6] takes no input while servers are imported, and gives the focus back if that fails', async () => {
  await inConsole('/servers?add=file', async page => {
    const text = JSON.stringify({ mcpServers: { more: { url: `${everything.origin}/mcp` } } });
    await page.fill('#import-text', text);
    await page.click('text=Show what would be done');
    await failOnce(page, /dry_run=false/);
    await tabTo(page, /^Do it for 1 server$/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('main [role=alert]');
    await expect.poll(() => focused(page)).toBe('Do it for 1 server');
    const go = await holdRequest(page, /dry_run=false/, () => page.keyboard.press('Enter'));
    expect(await typeInto(page, 'Or its text', 'x')).toBe(text);
    await go();
    await page.waitForSelector('text=was added');
  });
});

it('[OPS-1] [ACC-5] takes no input while it looks for the person of a question', async () => {
  const made = await gateway.api('POST', '/api/v1/principals', { name: 'Ada' });
  const { id } = JSON.parse(made.text) as { id: string };
  await inConsole('/why', async page => {
    await page.getByLabel('Who', { exact: true }).fill(id);
    await page.getByLabel('Server', { exact: true }).fill('things');
    await page.getByLabel('Tool', { exact: true }).fill('echo');
    const go = await holdRequest(page, new RegExp(`/principals/${id}`), () =>
      page.click('text=Explain'),
    );
    expect(await typeInto(page, 'Tool', 'x')).toBe('echo');
    await go();
    await page.waitForSelector('h2:has-text("Ada")');
  });
});

it('[OPS-1] keeps the focus where a tool was called', async () => {
  await inConsole('/tools?tool=things.echo', async page => {
    await page.fill('[name=message]', 'hello');
    await tabTo(page, /^Call it$/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Echo: hello');
    await expect.poll(() => focused(page)).toBe('Call it');
  });
});

it('[OPS-1] keeps what was answered to a server, if the gateway refuses it for now', async () => {
  await inConsole('/tools?tool=things.trigger-elicitation-request', async page => {
    await page.click('text=Call it');
    await page.fill('.questions [name=name]', 'Ada');
    await failOnce(page, /\/tools\/call$/);
    await page.press('.questions [name=name]', 'Enter');
    await page.waitForSelector('text=The gateway is busy');
    await expect.poll(() => focused(page)).toContain('name');
    await page.keyboard.press('Enter');
    await page.waitForSelector('section[aria-label=Result]');
    expect(await page.textContent('section[aria-label=Result]')).toContain('Ada');
    expect(await page.locator('.questions').count()).toBe(0);
  });
});

it('[OPS-1] shows the error of a confirmed action, also if its dialog was closed meanwhile', async () => {
  await gateway.api('POST', '/api/v1/connectors', { name: 'old-box' });
  await inConsole('/machines', async page => {
    const revoke = () => page.click('dialog[open] button:text("Revoke")');
    await page
      .locator('tr', { hasText: 'old-box' })
      .getByRole('button', { name: 'Revoke' })
      .click();
    await failOnce(page, /\/connectors\/[0-9a-f-]+$/);
    await tabTo(page, /^Revoke$/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open] [role=alert]');
    await expect.poll(() => focused(page)).toBe('Revoke');
    const gone = Promise.withResolvers<void>();
    await page.route(/\/connectors\/[0-9a-f-]+$/, async route => {
      await gone.promise;
      await route.abort();
    });
    await revoke();
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
    gone.resolve();
    await page.waitForSelector('dialog[open] [role=alert]');
  });
});

it('[OPS-1] keeps a command that is shown once, whatever else is revoked', async () => {
  await gateway.api('POST', '/api/v1/connectors', { name: 'other-box' });
  await inConsole('/machines?add=one', async page => {
    await page.fill('#machine-name', 'new-box');
    await page.click('text=Add it');
    await page.waitForSelector('.shown-once');
    for (const [name, left] of [
      ['other-box', 1],
      ['new-box', 0],
    ] as const) {
      const row = page.locator('tr', { hasText: name });
      await row.getByRole('button', { name: 'Revoke' }).click();
      await page.click('dialog[open] button:text("Revoke")');
      await page.waitForSelector(`text=${name} is revoked.`);
      expect(await page.locator('.shown-once').count()).toBe(left);
    }
  });
});

it('[OPS-1] [ACC-8] invites with the groups of now, if the first try failed', async () => {
  await inConsole('/people?tab=invitations', async page => {
    await page.click('text=Invite somebody');
    await page.getByLabel('Name', { exact: true }).fill('Zoe');
    await page.getByLabel('Groups', { exact: true }).fill('wrong');
    await failOnce(page, /\/invitations$/);
    await page.click('text=Make the link');
    await page.waitForSelector('form [role=alert]');
    await page.getByLabel('Groups', { exact: true }).fill('right');
    await page.click('text=Make the link');
    await page.waitForSelector('.shown-once');
  });
  const { text } = await gateway.api('GET', '/api/v1/principals?name=Zoe');
  const { principals } = JSON.parse(text) as { principals: { name: string; groups: string[] }[] };
  expect(principals).toMatchObject([{ name: 'Zoe', groups: ['right'] }]);
});

it('[OPS-1] says if the script of a view cannot be loaded, and logs why', async () => {
  const { page, problems, close } = await openConsole(browser, gateway.origin, admin.token);
  try {
    const broken = { contentType: 'text/javascript', body: 'throw new Error("broken script")' };
    await page.route(/\/assets\/.*\.js$/, route => route.fulfill(broken));
    await page.click('nav >> text=Usage');
    await page.waitForSelector('text=This view could not be loaded');
    await page.unroute(/\/assets\/.*\.js$/);
    await page.click('text=Try again');
    await expect.poll(() => page.textContent('h1')).toBe('Usage');
    expect(problems).toEqual([expect.stringContaining('broken script')]);
  } finally {
    await close();
  }
});

it('[OPS-1] says nothing about accounts before it knows which servers take them', async () => {
  await inConsole('/accounts', async page => {
    await page.waitForSelector('text=No server that you may use');
    await page.route(/\/account-servers$/, route => route.fulfill({ status: 503, body: '{}' }));
    await page.reload();
    await page.waitForSelector('main [role=alert]');
    expect(await page.locator('text=No server that you may use').count()).toBe(0);
  });
});
