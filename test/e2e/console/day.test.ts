/**
 * A team's day in the console, by the mouse: three servers are added, one with a secret and one that is broken; a group gets rights; a
 * toolset is made; a token gets a new value; a changed tool is approved; it is found out why somebody cannot use a tool, and who called what.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture } from '../support/keyboard.ts';
import { startKeyed, type KeyedUpstream } from '../support/keyed-upstream.ts';
import { mouseOn, type Mouse } from '../support/mouse.ts';
import { changeTools, toTool } from '../support/offered-tools.ts';
import { startScripted, type ScriptedUpstream } from '../support/scripted-upstream.ts';

const MAX_CLICKS = 40;
const KEY = 'k-4d1c-very-secret';
const ID = /[\da-f]{8}-[\da-f]{4}-|[\da-f]{32}/;
const READS = { annotations: { readOnlyHint: true } };
const SAVE_RULE = 'button:text("Save the rule")';
const SHOW = 'button:text-is("Show what changes")';

const items = [toTool('get_note', 'Gets a note', READS), toTool('drop_note', 'Drops a note')];

let gateway: Gateway;
let browser: Browser;
let issues: KeyedUpstream;
let notes: ScriptedUpstream;
let admin = '';

beforeAll(async () => {
  const lists = { 'tools/list': { member: 'tools', items } };
  [gateway, browser, issues, notes] = await Promise.all([
    startGateway({ env: { ...QUIET, PORTICO_POSTURE: 'closed' } }),
    startBrowser(),
    startKeyed(KEY, ''),
    startScripted('legacy', lists, () => ({ body: '{}' })),
  ]);
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
  const { json } = await gateway.api('POST', '/api/v1/principals', {
    name: 'Ria',
    groups: ['support'],
  });
  await gateway.createToken({ name: 'laptop', principal: json['id'] });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await issues?.close();
  await notes?.close();
});

/** Notes has another description for a tool, which is held since then. */
async function changeNotes(): Promise<void> {
  const { json } = await gateway.api('GET', '/api/v1/aggregator/servers?name=notes');
  const [server] = json['servers'] as { id: string }[];
  if (!server) throw new Error('notes is not registered');
  const changed = [toTool('get_note', 'Gets a note, whole', READS), ...items.slice(1)];
  await changeTools(gateway, { id: server.id, upstream: notes, items }, changed);
}

async function addServers({ page, click, type, choose }: Mouse): Promise<void> {
  const add = async (name: string, url: string) => {
    await page.waitForSelector('#server-name:focus');
    await type('#server-name', name);
    await type('#server-address', url);
  };
  await click('nav a:text-is("Servers")');
  await click('a:text-is("Add a server")');
  await add('issues', `${issues.origin}/mcp`);
  await choose('#server-credential', 'header');
  await type('#server-name-of-the-header', 'X-Key');
  await type('#server-value-of-the-header', KEY);
  await click('button:text("Add it")');
  await page.waitForSelector('.outcome .badge.good');
  await click('a:text-is("Add another")');
  await add('notes', notes.url);
  await click('button:text("Add it")');
  await page.waitForSelector('.outcome .badge.good');
  await click('a:text-is("Add another")');
  await add('wiki', `http://127.0.0.1:${await findFreePort()}/mcp`);
  await click('button:text("Add it")');
  await page.waitForSelector('.outcome .badge.bad');
  expect(await page.textContent('.outcome')).toContain('Check that it runs');
}

it('[OPS-1] a team’s day takes at most forty clicks, and no id is pasted', async () => {
  const view = await openConsole(browser, gateway.origin, admin, '/console');
  const { page } = view;
  const mouse = mouseOn(page);
  const { click, type } = mouse;
  const counts: Record<string, number> = {};
  const part = async (name: string, act: () => Promise<void>) => {
    const before = mouse.clicks;
    await act();
    counts[name] = mouse.clicks - before;
  };
  try {
    await part('servers', () => addServers(mouse));
    await part('rights', async () => {
      await click('nav a:text-is("Rules")');
      await click('a:text-is("Add a rule")');
      await type('label:text-is("Group") + input', 'support');
      await type('label:text-is("Server") + input', 'notes');
      await click('label:has-text("Only tools")');
      await click(SHOW);
      await page.waitForSelector('.preview h3:has-text("Ria")');
      await click(SAVE_RULE);
      await page.waitForSelector('.notice:focus');
    });
    await part('toolset', async () => {
      await click('nav a:text-is("Toolsets")');
      await click('a:text-is("Make a toolset")');
      await type('label:text-is("Name") + input', 'daily');
      await click('.picker-list label:has-text("get_note")');
      await click(SHOW);
      await click('button:text("Save the toolset")');
      await page.waitForSelector('.notice:focus');
    });
    await part('token', async () => {
      await click('nav a:text-is("People")');
      await click('th a:has-text("Ria")');
      await click('button:text("New value")');
      await click('dialog[open] button:text("New value")');
      await page.waitForSelector('.shown-once textarea:focus');
    });
    const value = await page.inputValue('.shown-once textarea');
    await changeNotes();
    await part('approval', async () => {
      await click('nav a:text-is("Approvals")');
      await click('summary:has-text("get_note")');
      await page.waitForSelector('ins:has-text("whole")');
      await click('details[open] button:text("Approve")');
      await page.waitForSelector('.notice:focus');
    });
    const call = (name: string) =>
      gateway.api('POST', '/api/v1/tools/call', { name, arguments: {} }, value);
    expect((await call('notes.drop_note')).status).toBe(404);
    await part('why', async () => {
      await click('nav a:text-is("Activity")');
      await click('tbody tr:has-text("drop_note") a:text-is("Why?")');
      await page.waitForSelector('h2:has-text("may not call notes.drop_note")');
      await page.waitForSelector('.steps li');
    });
    await part('who', async () => {
      await click('nav a:text-is("Activity")');
      await type('label:text-is("Who") + input', 'Ria');
      await page.waitForURL(/principal=Ria/);
      await page.waitForSelector('tbody tr:has-text("notes.drop_note")');
    });
    console.info(JSON.stringify(counts), mouse.clicks);
    expect(mouse.clicks).toBeLessThanOrEqual(MAX_CLICKS);
    expect(mouse.typed.filter(text => ID.test(text))).toEqual([]);
    expect(view.problems).toEqual([]);
    await page.goto(`${gateway.origin}/console`);
    await page.waitForSelector('.tiles');
    await picture(page, 'console-day');
  } finally {
    await view.close();
  }
});
