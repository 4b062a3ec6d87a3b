/** Tools in the console: found by words, called with a form built from their schema, with their results shown. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEverything, type Upstream } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { holdRequest, openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { startTcpRelay } from '../support/tcp-relay.ts';

const CALL = /\/api\/v1\/tools\/call$/;
const ONE_TOOL = /\/api\/v1\/tools\?tool=/;
/** Long enough for a busy machine. */
const SOON = { timeout: 60_000 };

let gateway: Gateway;
let browser: Browser;
let everything: Upstream;
let things = '';
let admin = '';
let member = '';

beforeAll(async () => {
  [gateway, browser, everything] = await Promise.all([
    startGateway({ env: QUIET }),
    startBrowser(),
    startEverything('streamableHttp'),
  ]);
  things = (await gateway.register('things', `${everything.origin}/mcp`)).id;
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Kim', scopes })).token;
  member = (await gateway.createToken({ name: 'Ada' })).token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

it('[OPS-1] finds a tool by words, and calls it with the keyboard alone', async () => {
  const view = await openConsole(browser, gateway.origin, member, '/console/tools');
  const { page } = view;
  try {
    await tabTo(page, /^What should it do/);
    await page.keyboard.type('add two numbers');
    await page.waitForURL(/q=add/);
    await tabTo(page, /things\.get-sum/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/tool=things\.get-sum/);
    await tabTo(page, /^a$/);
    await page.keyboard.type('x');
    await tabTo(page, /^b$/);
    await page.keyboard.type('4');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=a: is not a number');
    expect(await page.inputValue('[name=b]')).toBe('4');
    await page.fill('[name=a]', '3');
    await page.press('[name=a]', 'Enter');
    await page.waitForSelector('text=The sum of 3 and 4 is 7');
    expect(await view.violations()).toEqual([]);
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] sends line breaks from the form, and as JSON what no form can express', async () => {
  const path = '/console/tools?tool=things.echo';
  const view = await openConsole(browser, gateway.origin, member, path);
  const { page } = view;
  const result = page.locator('section[aria-label=Result] pre');
  try {
    await page.fill('[name=message]', 'one');
    await page.press('[name=message]', 'Shift+Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    await result.getByText('Echo: one\ntwo', { exact: true }).waitFor();
    await page.click('text=Write it as JSON');
    expect(await page.inputValue('[name=arguments]')).toBe('{"message":"one\\ntwo"}');
    expect(await view.violations()).toEqual([]);
    await page.fill('[name=arguments]', '{"message": ""}');
    await page.click('text=Call it');
    await result.getByText('Echo:', { exact: true }).waitFor();
    await page.click('text=Back to the form');
    await page.waitForSelector('text=message: cannot be written in the form; change it first');
    expect(await page.inputValue('[name=arguments]')).toBe('{"message": ""}');
    await page.fill('[name=arguments]', '{"message": "three"}');
    await page.click('text=Back to the form');
    expect(await page.inputValue('[name=message]')).toBe('three');
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] calls a tool once where Enter is pressed twice', async () => {
  const path = '/console/tools?tool=things.get-sum';
  const view = await openConsole(browser, gateway.origin, member, path);
  const { page } = view;
  let calls = 0;
  page.on('request', request => (calls += CALL.test(request.url()) ? 1 : 0));
  const twice = () => Promise.all([page.keyboard.press('Enter'), page.keyboard.press('Enter')]);
  try {
    await page.fill('[name=a]', '3');
    await page.fill('[name=b]', '4');
    const goOn = await holdRequest(page, CALL, twice);
    await twice();
    await goOn();
    await page.waitForSelector('text=The sum of 3 and 4 is 7');
    expect(calls).toBe(1);
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] shows an image that a tool returns', async () => {
  const view = await openConsole(
    browser,
    gateway.origin,
    member,
    '/console/tools?tool=things.get-tiny-image',
  );
  const { page } = view;
  try {
    await page.click('text=Call it');
    await page.waitForSelector('section img');
    const width = 'document.querySelector("section img").naturalWidth';
    expect(await page.evaluate<number>(width)).toBeGreaterThan(0);
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it("[OPS-1] shows a call's progress, and cancels it", async () => {
  const path = '/console/tools?tool=things.trigger-long-running-operation';
  const view = await openConsole(browser, gateway.origin, member, path);
  const { page } = view;
  try {
    await page.fill('[name=duration]', '2');
    await page.fill('[name=steps]', '4');
    await page.click('text=Call it');
    await page.waitForSelector('progress[value="2"][max="4"]');
    await page.waitForSelector('text=Long running operation completed');
    await page.fill('[name=duration]', '60');
    await page.click('text=Call it');
    await page.click('text=Stop it');
    await page.waitForSelector('button:text("Call it"):enabled');
    expect(await page.locator('section[aria-label=Result], .problem').count()).toBe(0);
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] answers a question of a server during a call, with the keyboard', async () => {
  const path = '/console/tools?tool=things.trigger-elicitation-request';
  const view = await openConsole(browser, gateway.origin, member, path);
  const { page } = view;
  try {
    await tabTo(page, /^Call it$/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.questions h3:focus');
    await picture(page, 'console-tools-question');
    expect(await view.violations()).toEqual([]);
    await tabTo(page, /^name$/);
    await page.keyboard.type('Ada');
    await page.keyboard.press('Enter');
    await page.waitForSelector('section[aria-label=Result]');
    expect(await page.textContent('section[aria-label=Result]')).toContain('Ada');
    await page.click('text=Call it');
    await page.click('text=Say no');
    await page.waitForSelector('section[aria-label=Result] :text("declined")');
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] keeps what was typed where a refresh fails, or no longer finds the tool', async () => {
  const path = '/console/tools?tool=things.get-sum';
  const view = await openConsole(browser, gateway.origin, admin, path);
  const { page } = view;
  let answer: object = { status: 503, json: { detail: 'Not now' } };
  // The page refreshes when an event says that a server has changed.
  const change = (description: string) =>
    gateway.api('PATCH', `/api/v1/aggregator/servers/${things}`, { description });
  try {
    await page.fill('[name=a]', '3');
    await page.route(ONE_TOOL, route => route.fulfill(answer));
    await change('One');
    await page.waitForSelector('[role=alert] >> text=Not now', SOON);
    expect(await page.inputValue('[name=a]')).toBe('3');
    answer = { json: { servers: [] } };
    await change('Two');
    await page.waitForSelector('text=There is no such tool for you', SOON);
    await page.fill('[name=b]', '4');
    await page.press('[name=b]', 'Enter');
    await page.waitForSelector('text=The sum of 3 and 4 is 7');
    expect(view.problems.filter(problem => !problem.includes('status of 503'))).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] says that the outcome is not known where the connection is lost', async () => {
  const relay = await startTcpRelay(gateway.port);
  const path = '/console/tools?tool=things.trigger-long-running-operation';
  const view = await openConsole(browser, relay.origin, member, path);
  const { page } = view;
  try {
    await page.fill('[name=duration]', '60');
    await page.fill('[name=steps]', '60');
    await page.click('text=Call it');
    await page.waitForSelector('progress[value="1"]');
    relay.cut();
    await page.waitForSelector('[role=alert] >> text=What the tool did is not known');
    await page.click('text=Call it');
    await page.waitForSelector('[role=alert] >> text=It is not known whether this was done');
    expect(await page.inputValue('[name=duration]')).toBe('60');
  } finally {
    await view.close();
    await relay.close();
  }
});
