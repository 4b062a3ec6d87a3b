/**
 * Connecting a client from the console: the shown configuration really connects a client, by mouse and with the keyboard alone; and tokens
 * are revoked.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { clients } from '../support/sdk-clients.ts';

const HOSTILE = '<img src=x onerror="window.hit=1">\u202Egnp';
/** The browser logs the requests that the gateway refuses on purpose here. */
const REFUSED = /^Failed to load resource: .* status of 403 /;

let gateway: Gateway;
let browser: Browser;
let bo: { id: string; token: string };

beforeAll(async () => {
  const [started, opened, notes] = await Promise.all([
    startGateway({ env: QUIET }),
    startBrowser(),
    startFixture('rich-modern'),
  ]);
  [gateway, browser] = [started, opened];
  await gateway.register('notes', `${notes.origin}/mcp`);
  const toolset = { name: 'reading', include: ['notes.echo'] };
  const made = await gateway.api('POST', '/api/v1/toolsets', toolset);
  if (made.status !== 201) throw new Error(made.text);
  bo = await gateway.createToken({ name: 'Bo' });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** Opens the view, runs a test in it, and checks at the end that the page had no problems. */
async function inConnect(
  query: string,
  work: (page: Page, violations: () => Promise<string[]>) => Promise<void>,
  token = bo.token,
): Promise<void> {
  const view = await openConsole(browser, gateway.origin, token, `/console/connect${query}`);
  try {
    await view.page.waitForSelector('h1');
    await work(view.page, view.violations);
    const problems = view.problems.filter(problem => !REFUSED.test(problem));
    if (problems.length > 0) throw new Error(problems.join('\n'));
  } finally {
    await view.close();
  }
}

/** Returns the tools that a client gets with an address and a token. */
async function toolsWith(url: string, token: string): Promise<string[]> {
  const client = await clients['SDK 2.x auto']({ url, token });
  try {
    return (await client.listTools()).map(({ name }) => name);
  } finally {
    await client.close();
  }
}
const shown = (page: Page) => page.getByLabel('What to paste, with the token').last().inputValue();
const row = (page: Page, name: string) => page.locator('tbody tr', { hasText: name });

it('[ACC-7] [ACC-9] creates a token, and the command shown for Claude Code connects a client', async () => {
  await inConnect('?with=token', async (page, violations) => {
    await page.getByLabel('Name of the token').fill('my laptop');
    await page.getByRole('button', { name: 'Make a token' }).click();
    await page.locator('.shown-once').waitFor();
    const command = await shown(page);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
    expect(await violations()).toEqual([]);
    await picture(page, 'connect-made');
    const [, url = ''] = /"(http[^"]+)"/.exec(command) ?? [];
    const [, token = ''] = /Bearer (portico_[\w-]+)"/.exec(command) ?? [];
    expect(command).toMatch(/^claude mcp add --transport http portico /);
    expect(await toolsWith(url, token)).toContain('notes__echo');
    await row(page, 'my laptop').waitFor();
    // The token is nowhere but in this box.
    const places = 'location.href + JSON.stringify([{ ...localStorage }, { ...sessionStorage }])';
    expect(await page.evaluate<string>(places)).not.toContain(token);
    await page.getByRole('button', { name: 'I have it' }).click();
    expect(await page.content()).not.toContain(token);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('DIV');
    await row(page, 'my laptop').getByRole('button', { name: 'Revoke' }).click();
    await page.locator('dialog[open]').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The token is revoked.').waitFor();
    await expect.poll(() => row(page, 'my laptop').count()).toBe(0);
    await expect(toolsWith(url, token)).rejects.toThrow(/401|unauthorized/i);
  });
});

it('[ACC-7] [ACC-9] does the same with the keyboard alone, with JSON for a toolset', async () => {
  await inConnect('', async page => {
    const { keyboard } = page;
    await tabTo(page, /^Skip/);
    await keyboard.press('Enter');
    await tabTo(page, /^Client$/);
    await keyboard.type('Zed');
    await tabTo(page, /^Toolset/);
    await keyboard.type('reading');
    await tabTo(page, /^How it signs in$/);
    await keyboard.type('With');
    await tabTo(page, /^Make a token$/);
    await keyboard.press('Enter');
    await page.locator('.shown-once').waitFor();
    const { portico } = (JSON.parse(await shown(page)) as Record<string, unknown>)[
      'context_servers'
    ] as { portico: { url: string; headers: { Authorization: string } } };
    expect(new URL(portico.url).pathname).toBe('/mcp/toolsets/reading');
    const token = portico.headers.Authorization.replace('Bearer ', '');
    expect(await toolsWith(portico.url, token)).toEqual(['notes__echo']);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      client: 'zed',
      toolset: 'reading',
      with: 'token',
    });
    await tabTo(page, /^I have it$/);
    await keyboard.press('Enter');
    await row(page, 'zed').waitFor();
    await tabTo(page, /^Revoke$/);
    await keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await keyboard.press('Enter');
    await page.getByText('The token is revoked.').waitFor();
  });
});

it('[ACC-7] shows how clients sign in, and links to those that document one', async () => {
  await inConnect('?client=cursor', async (page, violations) => {
    const paste = page.locator('pre.snippet');
    expect(JSON.parse((await paste.textContent()) ?? '')).toEqual({
      mcpServers: { portico: { url: `${gateway.origin}/mcp?names=underscore` } },
    });
    const link = page.getByRole('link', { name: 'Add to Cursor' });
    expect(await link.getAttribute('href')).toMatch(/^cursor:\/\/anysphere\.cursor-deeplink\/mcp/);
    expect(await violations()).toEqual([]);
    await page.getByLabel('Client').selectOption('vscode');
    const other = page.getByRole('link', { name: 'Add to VS Code' });
    expect(await other.getAttribute('href')).toMatch(/^vscode:mcp\/install\?/);
    await page.getByLabel('Client').selectOption('curl');
    expect(await page.getByLabel('How it signs in').locator('option').allTextContents()).toEqual([
      'With a token',
    ]);
    await page.getByLabel('Client').selectOption('other');
    expect(await paste.textContent()).toContain(`${gateway.origin}/mcp?names=underscore`);
  });
});

it('[ACC-9] [SEC-7] shows names as text, and why nothing was created, and keeps the input', async () => {
  const made = await gateway.api('POST', '/api/v1/tokens', { name: HOSTILE }, bo.token);
  const child = made.json['token'] as string;
  await inConnect('', async page => {
    await row(page, HOSTILE.replace('\u202E', '⟨U+202E⟩')).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.evaluate('window.hit')).toBeUndefined();
  });
  // A person signed in with a client's token can create nothing.
  await inConnect(
    '?with=token',
    async page => {
      await row(page, 'this sign-in').waitFor();
      expect(await page.locator('tbody tr').count()).toBe(1);
      await page.getByLabel('Name of the token').fill('more');
      await page.getByRole('button', { name: 'Make a token' }).click();
      await page.getByText('A token that was made for a client cannot make other tokens').waitFor();
      expect(await page.getByLabel('Name of the token').inputValue()).toBe('more');
    },
    child,
  );
});
