/**
 * A member in the console: each view gets only what the API returns for the member's token, and what is hidden from them appears nowhere.
 */
import type { Browser, Response } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { offerTools, toTool, type Offering } from '../support/offered-tools.ts';

let gateway: Gateway;
let browser: Browser;
const offerings: Offering[] = [];
let member = '';

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ env: QUIET }), startBrowser()]);
  const notes = [toTool('get_note', 'Gets'), toTool('hidden_note', 'Not for members')];
  offerings.push(await offerTools(gateway, 'notes', notes, 'trust'));
  offerings.push(await offerTools(gateway, 'vault', [toTool('open', 'Opens')], 'trust'));
  const group = { kind: 'group', name: 'members' };
  for (const what of [{ tool: 'hidden_*' }, { server: 'vault' }]) {
    const rule = { effect: 'deny', subject: group, ...what };
    const { status } = await gateway.api('POST', '/api/v1/access/rules', rule);
    if (status !== 201) throw new Error(`no rule: ${status}`);
  }
  const body = { name: 'Ria', groups: ['members'] };
  const { json } = await gateway.api('POST', '/api/v1/principals', body);
  const scopes = ['tools:read', 'tools:call'];
  const made = await gateway.createToken({ name: 'laptop', principal: json['id'], scopes });
  member = made.token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await Promise.all(offerings.map(({ upstream }) => upstream.close()));
});

/** A request of a page, and its response. */
interface Heard {
  method: string;
  path: string;
  body: string | null;
  status: number;
  text: string;
}

/** Returns undefined if the page was left before the response was complete: then nobody saw it. */
async function hear(response: Response): Promise<Heard | undefined> {
  const { pathname, search } = new URL(response.url());
  const request = response.request();
  const text = await response.text().catch(() => undefined);
  if (text === undefined) return undefined;
  return {
    method: request.method(),
    path: pathname + search,
    body: request.postData(),
    status: response.status(),
    text,
  };
}

const withoutTimes = (text: string): string =>
  text.replaceAll(
    /"last_used_at":(?:null|"[^"]*")|"\d{4}-\d\d-\d\dT[^"]{1,20}"|"(?:events|counts)":\[.*\]/g,
    '""',
  );

it('[OPS-1] [ACC-9] a member gets no more than their token allows, in every view', async () => {
  const view = await openConsole(browser, gateway.origin, member);
  const { page } = view;
  const heard: Promise<Heard | undefined>[] = [];
  page.on('response', response => {
    if (new URL(response.url()).pathname.startsWith('/api/')) heard.push(hear(response));
  });
  try {
    const names = await page.locator('nav a').allTextContents();
    expect(names).toEqual(expect.arrayContaining(['Overview', 'Tools', 'Connect a client']));
    expect(names).not.toEqual(expect.arrayContaining(['People']));
    for (const name of names) {
      await page.click(`nav a:text-is("${name}")`);
      await page.waitForSelector('main:has(h1):not(:has(.loading))');
      const text = (await page.textContent('main')) ?? '';
      expect([name, /vault|hidden_note/.test(text)]).toEqual([name, false]);
    }
    await page.goto(`${gateway.origin}/console/people`);
    await page.waitForSelector('h1:text("There is no such view for you")');
    await page.goto(`${gateway.origin}/console/tools?tool=vault.open`);
    await page.waitForSelector('text=There is no such tool for you.');
    await page.fill('#query', 'open the vault');
    await page.waitForSelector('.tools strong:text-is("notes.get_note"), .empty');
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
  const all = (await Promise.all(heard)).filter(one => one !== undefined);
  expect(all.length).toBeGreaterThan(5);
  for (const { method, path, body, status, text } of all) {
    const sent = body === null ? undefined : (JSON.parse(body) as unknown);
    const told = await gateway.api(method, path, sent, member);
    expect([path, status]).toEqual([path, told.status]);
    expect([path, /hidden_note|vault\./.test(text)]).toEqual([path, false]);
    // Meanwhile the audit has new rows and the token was used, so times are left out.
    const [given, expected] = [text, told.text].map(each => withoutTimes(each));
    expect([path, given]).toEqual([path, expected]);
  }
});
