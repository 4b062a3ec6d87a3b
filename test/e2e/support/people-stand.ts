/** A gateway whose people an administrator manages in the console, in a real browser. Owns what it starts. */
import type { Browser, Page } from 'playwright-core';
import { startFixture, until } from '../../fixtures/start-fixture.ts';
import { startBrowser } from './browser.ts';
import { openConsole, type ConsolePage } from './console-page.ts';
import { QUIET, startGateway, type ApiAnswer, type Gateway } from './gateway.ts';
import { tabTo } from './keyboard.ts';

export const PRINCIPALS = '/api/v1/principals';
/** The browser logs the requests that the gateway refuses on purpose. */
const REFUSED = /^Failed to load resource: .* status of (?:400|403|409|412|422) /;
const SOON_MS = 30_000;

export interface PeopleStand {
  gateway: Gateway;
  browser: Browser;
  /** Token of an administrator without limits. */
  admin: string;
  /** Opens the console at this suffix of `/console/people`; requests refused on purpose are no problem of the page. */
  open(
    search: string,
    token?: string,
    look?: Parameters<typeof openConsole>[4],
  ): Promise<ConsolePage>;
  /** @returns its id */
  addPrincipal(name: string, more?: object): Promise<string>;
  /** Sends a request with a token. @returns the gateway's response */
  ask(token: string, path?: string): Promise<ApiAnswer>;
  /** Waits until a token is refused; a revoked one is refused within a second, plus what a busy machine adds. */
  untilRefused(token: string): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startPeopleStand(): Promise<PeopleStand> {
  const [gateway, browser, notes] = await Promise.all([
    startGateway({ env: QUIET }),
    startBrowser(),
    startFixture('rich-modern'),
  ]);
  await gateway.register('notes', `${notes.origin}/mcp`);
  const { token: admin } = await gateway.createToken({ name: 'Ada', scopes: ['admin'] });
  const ask: PeopleStand['ask'] = (token, path = '/api/v1/token') =>
    gateway.api('GET', path, undefined, token);
  return {
    gateway,
    browser,
    admin,
    ask,
    async open(search, token = admin, look = {}) {
      const path = `/console/people${search}`;
      const view = await openConsole(browser, gateway.origin, token, path, look);
      return {
        ...view,
        get problems() {
          return view.problems.filter(problem => !REFUSED.test(problem));
        },
      };
    },
    async addPrincipal(name, more = {}) {
      const { status, json, text } = await gateway.api('POST', PRINCIPALS, { name, ...more });
      if (status !== 201) throw new Error(text);
      return String(json['id']);
    },
    untilRefused: token =>
      until('the token is refused', SOON_MS, async () =>
        (await ask(token)).status === 401 ? true : undefined,
      ),
    async stop() {
      await browser.close();
      await gateway.stop();
    },
  };
}

/** Reads the secret that is shown once; it disappears when it is dismissed. */
export async function takeSecret(page: Page): Promise<string> {
  await page.waitForSelector('.shown-once textarea:focus');
  const value = await page.inputValue('.shown-once textarea');
  await page.click('button:text("I have it")');
  await page.waitForSelector('.shown-once', { state: 'detached' });
  return value;
}

/** Acts without a mouse: goes to the element with this name, and presses Enter, or types. */
export const atKeys = (page: Page) => ({
  async press(name: RegExp): Promise<void> {
    await tabTo(page, name);
    await page.keyboard.press('Enter');
  },
  async type(name: RegExp, text: string): Promise<void> {
    await tabTo(page, name);
    await page.keyboard.type(text);
  },
});
