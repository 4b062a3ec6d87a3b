/** The view of toolsets in a real browser: created by picking, served at its URL, renamed, edited by two people at once, and deleted. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { offerTools, toTool, type Offering } from '../support/offered-tools.ts';
import { listAllTools, openModern } from '../support/raw-client.ts';

const TOOLSETS = '/api/v1/toolsets';
/** The browser logs the requests that the gateway refuses on purpose here: a bad field, and an edit of a record that changed meanwhile. */
const REFUSED = /^Failed to load resource: .* status of 4[12]2 /;
const HOSTILE = '<img src=x onerror="document.title=1"> \u202Egnp';
const SHOWN = '<img src=x onerror="document.title=1"> ⟨U+202E⟩gnp';
const SHOW = 'button:text-is("Show what changes")';

let gateway: Gateway;
let browser: Browser;
const offerings: Offering[] = [];
let admin = '';
let member = '';

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ env: QUIET }), startBrowser()]);
  const notes = [toTool('get_note', 'Gets'), toTool('drop_note', 'Drops'), toTool('odd', HOSTILE)];
  const files = [toTool('get_file', 'Gets a file'), toTool(HOSTILE, 'Of an odd name')];
  offerings.push(await offerTools(gateway, 'notes', notes, 'trust'));
  offerings.push(await offerTools(gateway, 'files', files, 'trust'));
  admin = (await gateway.createToken({ name: 'Ada', scopes: ['admin'] })).token;
  const body = { name: 'Ria', groups: ['readers'] };
  const { json } = await gateway.api('POST', '/api/v1/principals', body);
  member = (await gateway.createToken({ name: 'laptop', principal: json['id'] })).token;
});

afterEach(async () => {
  const { json } = await gateway.api('GET', TOOLSETS);
  for (const { id } of json['toolsets'] as { id: string }[]) {
    await gateway.api('DELETE', `${TOOLSETS}/${id}`);
  }
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await Promise.all(offerings.map(({ upstream }) => upstream.close()));
});

/** Opens the view, runs a test in it, and checks at the end that the page had no problems. */
async function inConsole(
  path: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const view = await openConsole(browser, gateway.origin, admin, `/console/toolsets${path}`);
  try {
    await act(view.page, async name => {
      await picture(view.page, `console-toolsets-${name}`);
      expect(await view.violations()).toEqual([]);
    });
    expect(view.problems.filter(problem => !REFUSED.test(problem))).toEqual([]);
  } finally {
    await view.close();
  }
}

/** Returns the tools that Ria is served at a URL, as `name: description`. */
async function servedAt(url: string): Promise<string[]> {
  const tools = await listAllTools(openModern({ url, token: member }));
  return tools
    .map(tool => `${tool.name}: ${'description' in tool ? String(tool.description) : ''}`)
    .toSorted();
}

async function make(body: object): Promise<string> {
  const { json, status } = await gateway.api('POST', TOOLSETS, body);
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(json)}`);
  return String(json['id']);
}

it('[OPS-1] [ACC-4] is created by picking and served at its URL, with the keyboard alone', async () => {
  let url = '';
  await inConsole('', async (page, look) => {
    const { keyboard: keys } = page;
    const press = async (name: RegExp, key = 'Enter') => {
      await tabTo(page, name);
      await keys.press(key);
    };
    const type = async (name: RegExp, text: string) => {
      await tabTo(page, name);
      await keys.type(text);
    };
    await press(/^Make a toolset$/);
    await page.waitForSelector('h1:text("Make a toolset")');
    await page.waitForSelector('.picker-list');
    await type(/^Name$/, 'reading');
    await type(/^Find tools$/, 'get_note');
    await keys.press('Enter');
    await page.waitForSelector('text=/^The best/');
    await press(/^get_note/, 'Space');
    await tabTo(page, /^Tool to rename$/);
    await keys.type('notes.get_note');
    await press(/^Rename it$/);
    await page.waitForSelector('.override input:focus');
    await keys.type('read');
    await type(/^Description in the toolset$/, 'Reads a note');
    await press(/^Show what changes$/);
    await page.waitForSelector('h2:text("What saving it changes"):focus');
    expect(await page.textContent('.selected .changed')).toContain('gains notes.get_note');
    const people = await page.textContent('.preview-groups h3');
    expect(people?.split(', ')).toEqual(expect.arrayContaining(['Ada', 'Ria']));
    await look('preview');
    await press(/^Save the toolset$/);
    await page.waitForSelector('.notice:text("It is saved"):focus');
    url = (await page.textContent('pre.snippet')) ?? '';
    await look('made');
  });
  expect(url).toBe(`${gateway.origin}/mcp/toolsets/reading`);
  expect(await servedAt(url)).toEqual(['read: Reads a note']);
});

it('[OPS-1] shows hostile names and descriptions as text', async () => {
  await inConsole('?add=one', async (page, look) => {
    await page.waitForSelector('.picker-list');
    const list = page.locator('.picker-list');
    expect(await list.textContent()).toContain(`odd ${SHOWN}`);
    await page.click(`.picker-list label:has-text("Of an odd name")`);
    expect(await page.textContent('.chips')).toContain(`files.${SHOWN}`);
    await page.fill('label:text-is("Name") + input', 'not a name');
    await page.click(SHOW);
    await page.waitForSelector('.wrong:text("use 1 to 63 letters")');
    await page.fill('label:text-is("Name") + input', 'odd');
    await page.click(SHOW);
    expect(await page.textContent('.selected')).toContain(`gains files.${SHOWN}`);
    expect(await page.title()).not.toBe('1');
    await look('hostile');
  });
});

it('[OPS-1] [ACC-4] includes a whole server, excludes some tools, and is limited to a group', async () => {
  await make({ name: 'work', include: ['notes'] });
  await inConsole('', async page => {
    await page.click('a:text-is("work")');
    await page.waitForSelector('.picker-list');
    await page.click('.picker-list label:has-text("All of files")');
    await page.fill('label:has-text("left out anyway") ~ input', '*.drop_*');
    await page.selectOption('label:text-is("Who may use it") + select', 'some');
    await page.fill('label:has-text("Groups that may use it") ~ input', 'others');
    await page.click(SHOW);
    expect(await page.textContent('.selected summary')).toBe('gains 2 tools loses 1 tool');
    expect(await page.textContent('.preview-groups')).toMatch(/Ria.*loses 3 tools/);
    await page.fill('label:has-text("Groups that may use it") ~ input', 'readers');
    await page.click(SHOW);
    await page.click('button:text("Save the toolset")');
    await page.waitForSelector('.notice:focus');
  });
  const served = await servedAt(`${gateway.origin}/mcp/toolsets/work`);
  expect(served.map(each => each.split(':')[0])).toEqual(
    expect.arrayContaining(['files.get_file', 'notes.get_note', 'notes.odd']),
  );
  expect(served.join()).not.toContain('drop_note');
});

it('[OPS-1] [ACC-4] reports an edit elsewhere, and keeps the input', async () => {
  const id = await make({ name: 'work', include: ['notes.get_note'] });
  await inConsole(`?toolset=${id}`, async (page, look) => {
    await page.fill('label:text-is("Name") + input', 'other');
    await page.click(SHOW);
    await page.waitForSelector('.notice:text("Its URL changes")');
    await gateway.api('PATCH', `${TOOLSETS}/${id}`, { description: 'Of another' });
    await page.click('button:text("Save the toolset")');
    expect(await page.textContent('[role=alert]')).toContain('meanwhile (description)');
    expect(await page.inputValue('label:text-is("Name") + input')).toBe('other');
    await look('conflict');
    await page.click(SHOW);
    await page.click('button:text("Save over it")');
    await page.waitForSelector('h1:text("other")');
  });
  const { json } = await gateway.api('GET', `${TOOLSETS}/${id}`);
  expect(json).toMatchObject({ name: 'other', description: 'Of another', revision: 3 });
});

it('[OPS-1] [ACC-4] is deleted, after the consequences are shown', async () => {
  const id = await make({ name: 'work', include: ['notes.get_note'] });
  await inConsole(`?toolset=${id}`, async page => {
    await page.click('button:text("Show what deleting it changes")');
    expect(await page.textContent('.selected')).toContain('loses notes.get_note');
    await page.click('.preview button:text("Delete the toolset")');
    await page.click('dialog[open] button:text("Delete the toolset")');
    await page.waitForSelector('.notice:text("It is deleted"):focus');
    await page.waitForSelector('text=There is none yet.');
  });
  expect((await gateway.api('GET', `${TOOLSETS}/${id}`)).status).toBe(404);
});

it.each([
  [360, 'dark'],
  [768, 'light'],
  [1440, 'light'],
] as const)('[OPS-1] the form looks right at %i px, %s', async (width, theme) => {
  const overrides = [{ server: 'notes', tool: 'get_note', name: 'read' }];
  const members = { groups: ['readers'] };
  const id = await make({ name: 'work', include: ['notes', '*.get_*'], overrides, members });
  const path = `/console/toolsets?toolset=${id}`;
  const view = await openConsole(browser, gateway.origin, admin, path, { width, theme });
  const { page } = view;
  try {
    await page.waitForSelector('.picker-list');
    await page.click('button:text("Show what deleting it changes")');
    await page.waitForSelector('.changed');
    await picture(page, `console-toolsets-form-${width}-${theme}`);
    expect(await view.violations()).toEqual([]);
    const overflow = 'document.documentElement.scrollWidth - innerWidth';
    expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});
