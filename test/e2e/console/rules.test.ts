/**
 * The view of rules in a real browser: a rule is created by mouse and with the keyboard after a preview of its effect; then people see
 * exactly that.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { holdRequest, openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { offerTools, toTool, type Offering } from '../support/offered-tools.ts';

const RULES = '/api/v1/access/rules';
/** The browser logs the requests that the gateway refuses on purpose here: a bad field, and an edit of a record that changed meanwhile. */
const REFUSED = /^Failed to load resource: .* status of 4[12]2 /;
const HOSTILE = '<img src=x onerror="document.title=1"> \u202Egnp';
const READS = { annotations: { readOnlyHint: true } };

let gateway: Gateway;
let browser: Browser;
let notes: Offering;
let admin = '';
let ria = '';
let riaToken = '';

beforeAll(async () => {
  [gateway, browser] = await Promise.all([
    startGateway({ env: { ...QUIET, PORTICO_POSTURE: 'closed' } }),
    startBrowser(),
  ]);
  const tools = [
    toTool('get_note', 'Gets', READS),
    toTool('list_notes', 'Lists', READS),
    toTool('drop_note', 'Drops'),
    toTool(HOSTILE, 'Reads', READS),
  ];
  notes = await offerTools(gateway, 'notes', tools, 'trust');
  admin = (await gateway.createToken({ name: 'Ada', scopes: ['admin', 'tools:read'] })).token;
  const body = { name: 'Ria', groups: ['readers'] };
  const { json } = await gateway.api('POST', '/api/v1/principals', body);
  ria = String(json['id']);
  riaToken = (await gateway.createToken({ name: 'laptop', principal: ria })).token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await notes?.upstream.close();
});

/** Opens the view, runs a test in it, and checks at the end that the page had no problems. */
async function inConsole(
  path: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const view = await openConsole(browser, gateway.origin, admin, `/console/rules${path}`);
  try {
    await act(view.page, async name => {
      await picture(view.page, `console-rules-${name}`);
      expect(await view.violations()).toEqual([]);
    });
    expect(view.problems.filter(problem => !REFUSED.test(problem))).toEqual([]);
  } finally {
    await view.close();
  }
}

/** Returns the servers' own names of the tools that Ria sees. */
async function toolsOfRia(): Promise<string[]> {
  const { json } = await gateway.api('GET', '/api/v1/tools', undefined, riaToken);
  const servers = json['servers'] as { tools: { original_name: string }[] }[];
  return servers.flatMap(({ tools }) => tools.map(tool => tool.original_name)).toSorted();
}
const readAllow = {
  effect: 'allow',
  subject: { kind: 'group', name: 'readers' },
  server: 'notes',
  read_only: true,
};
async function make(body: object): Promise<string> {
  const { json, status } = await gateway.api('POST', RULES, body);
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(json)}`);
  return String(json['id']);
}
afterEach(async () => {
  const { json } = await gateway.api('GET', RULES);
  const rules = json['rules'] as { id: string }[];
  for (const { id } of rules) await gateway.api('DELETE', `${RULES}/${id}`);
});
const SHOW = 'button:text-is("Show what changes")';

it('[OPS-1] [ACC-3] lets a group read one server, previewed before it is saved, with the keyboard', async () => {
  await inConsole('', async (page, look) => {
    const { keyboard: keys } = page;
    const press = async (name: RegExp) => {
      await tabTo(page, name);
      await keys.press('Enter');
    };
    const type = async (name: RegExp, text: string) => {
      await tabTo(page, name);
      await keys.type(text);
    };
    await press(/^Add a rule$/);
    await page.waitForSelector('h1:text("Add a rule")');
    await type(/^Group$/, 'readers');
    await type(/^Server$/, 'nowhere');
    await keys.press('Enter');
    await page.waitForSelector('.wrong:text("there is no server nowhere")');
    await tabTo(page, /^Server$/);
    await keys.press('Control+A');
    await keys.type('notes');
    await tabTo(page, /^Only tools/);
    await keys.press('Space');
    await press(/^Show what changes$/);
    await page.waitForSelector('h2:text("What saving it changes"):focus');
    expect(await page.textContent('.preview h3')).toBe('Ria');
    expect(await page.textContent('.changed summary')).toContain('gains 3 tools');
    const listed = await page.locator('.changed li').allTextContents();
    expect(listed).toContain('gains notes.get_note');
    expect(listed.join()).toContain('<img src=x onerror="document.title=1"> ⟨U+202E⟩gnp');
    expect(await page.title()).not.toBe('1');
    await look('preview');
    // Nothing is saved yet.
    expect(await toolsOfRia()).toEqual([]);
    await press(/^Save the rule$/);
    await page.waitForSelector('.notice:text("The rule is saved"):focus');
    await page.waitForSelector(
      'text=Allows the group readers every tool of notes, if they are annotated read-only',
    );
    await look('list');
  });
  expect(await toolsOfRia()).toEqual([HOSTILE, 'get_note', 'list_notes']);
});

it('[OPS-1] [ACC-3] denies one person a tool, and reverts that', async () => {
  await make(readAllow);
  await inConsole('?add=one', async (page, look) => {
    await page.selectOption('#rule-effect', 'deny');
    await page.selectOption('#rule-kind', 'principal');
    await page.fill('label:text-is("Who") + input', 'Ria');
    await page.fill('label:text-is("Server") + input', '*');
    await page.fill('label:text-is("Tools") + input', '*_note');
    await page.click(SHOW);
    expect(await page.textContent('.changed')).toContain('loses notes.get_note');
    expect(await page.textContent('.changed summary')).toContain('loses 1 tool');
    // The preview belongs to the earlier input, so it disappears.
    await page.fill('label:text-is("Tools") + input', 'list_*');
    expect(await page.locator('.preview').count()).toBe(0);
    await page.click(SHOW);
    expect(await page.textContent('.changed')).toContain('loses notes.list_notes');
    await page.click('button:text("Save the rule")');
    await page.waitForSelector('.notice:focus');
    expect(await toolsOfRia()).toEqual([HOSTILE, 'get_note']);
    await page.click('a:has-text("Denies Ria the tools list_*")');
    await page.click('button:text("Show what deleting it changes")');
    expect(await page.textContent('.changed')).toContain('gains notes.list_notes');
    await look('delete');
    await page.click('.preview button:text("Delete the rule")');
    await page.click('dialog[open] button:text("Delete the rule")');
    await page.waitForSelector('.notice:text("The rule is deleted"):focus');
    await page.waitForSelector('a:has-text("Allows the group")');
    expect(await page.locator('a:has-text("Denies Ria")').count()).toBe(0);
  });
  expect(await toolsOfRia()).toHaveLength(3);
});

it('[OPS-1] [ACC-3] drops a preview that arrives after the input has changed', async () => {
  const id = await make(readAllow);
  await inConsole(`?rule=${id}`, async page => {
    await page.fill('label:text-is("Tools") + input', 'get_*');
    const go = await holdRequest(page, /\/rules\/preview$/, () => page.click(SHOW));
    await page.fill('label:text-is("Tools") + input', 'list_*');
    await go();
    await page.waitForSelector(`${SHOW}:enabled`);
    expect(await page.locator('.preview').count()).toBe(0);
    await page.click(SHOW);
    expect(await page.textContent('.changed')).toContain('loses notes.get_note');
  });
});

it('[OPS-1] [ACC-3] reports an edit elsewhere, and keeps the input', async () => {
  const id = await make(readAllow);
  await inConsole(`?rule=${id}`, async page => {
    await page.fill('label:text-is("Tools") + input', 'get_*');
    await page.click(SHOW);
    await page.waitForSelector('.preview');
    await gateway.api('PATCH', `${RULES}/${id}`, { description: 'Of another' });
    await page.click('button:text("Save the rule")');
    expect(await page.textContent('[role=alert]')).toContain('meanwhile (description)');
    expect(await page.inputValue('label:text-is("Tools") + input')).toBe('get_*');
    expect(await page.inputValue('textarea')).toBe('Of another');
    await page.click(SHOW);
    await page.click('button:text("Save over it")');
    await page.waitForSelector('.notice:focus');
    const { json } = await gateway.api('GET', `${RULES}/${id}`);
    expect(json).toMatchObject({ tool: 'get_*', description: 'Of another', revision: 3 });
  });
});

it('[OPS-1] [ACC-3] keeps the input while somebody else gives the rule another subject', async () => {
  const id = await make(readAllow);
  await inConsole(`?rule=${id}`, async page => {
    await page.fill('label:text-is("Tools") + input', 'get_*');
    await gateway.api('PATCH', `${RULES}/${id}`, { subject: { kind: 'principal', id: ria } });
    // Somebody comes back to the page after a minute, so it reads the rule again.
    await page.clock.setFixedTime(Date.now() + 60_000);
    const name = page.waitForResponse(new RegExp(`/principals/${ria}$`));
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    await (await name).finished();
    await page.waitForTimeout(100);
    expect(await page.inputValue('label:text-is("Tools") + input')).toBe('get_*');
  });
});

it('[OPS-1] [ACC-3] asks which of two people with the same name is meant', async () => {
  const { json } = await gateway.api('POST', '/api/v1/principals', { name: 'Ria' });
  await inConsole('?add=one', async page => {
    await page.selectOption('#rule-kind', 'principal');
    await page.fill('label:text-is("Who") + input', 'Ria');
    await page.fill('label:text-is("Server") + input', 'notes');
    await page.click(SHOW);
    await page.waitForSelector('.wrong:text("2 have this name")');
    await page.fill('label:text-is("Who") + input', ria);
    await page.click(SHOW);
    expect(await page.textContent('.preview h3')).toBe('Ria');
  });
  const why = await openConsole(browser, gateway.origin, admin, `/console/why?principal=${ria}`);
  await why.page.fill('label:text-is("Server") + input', 'notes');
  await why.page.fill('label:text-is("Tool") + input', 'get_note');
  await why.page.click('text=Explain');
  await why.page.waitForURL(url => url.searchParams.get('tool') === 'get_note');
  expect(new URL(why.page.url()).searchParams.get('principal')).toBe(ria);
  await why.close();
  await gateway.api('DELETE', `/api/v1/principals/${String(json['id'])}`);
});

describe('[OPS-1] the levels of rules', () => {
  it('are in the order of evaluation, denials first', async () => {
    await make({ effect: 'deny', subject: { kind: 'everyone' }, tool: 'drop_*' });
    await make({ effect: 'deny', subject: readAllow.subject, tool: 'drop_*' });
    await make(readAllow);
    await make({ ...readAllow, subject: { kind: 'principal', id: ria }, description: HOSTILE });
    await inConsole('', async (page, look) => {
      await page.waitForSelector('a:has-text("Allows Ria every tool of notes")');
      const rows = page.locator('tbody th');
      await page.waitForFunction("document.querySelectorAll('tbody th').length === 4");
      expect(await rows.allTextContents()).toEqual([
        'allow Allows Ria every tool of notes, if they are annotated read-only',
        'deny Denies the group readers the tools drop_* of every server',
        'allow Allows the group readers every tool of notes, if they are annotated read-only',
        'deny Denies everyone the tools drop_* of every server',
      ]);
      expect(await page.textContent('tbody td')).toContain('⟨U+202E⟩gnp');
      await look('levels');
    });
  });

  it.each([
    [360, 'dark'],
    [768, 'light'],
    [1440, 'light'],
  ] as const)('and the form look right at %i px, %s', async (width, theme) => {
    const id = await make(readAllow);
    const path = `/console/rules?rule=${id}`;
    const view = await openConsole(browser, gateway.origin, admin, path, { width, theme });
    const { page } = view;
    try {
      await page.click('button:text("Show what deleting it changes")');
      await page.waitForSelector('.changed');
      await picture(page, `console-rules-form-${width}-${theme}`);
      expect(await view.violations()).toEqual([]);
      const overflow = 'document.documentElement.scrollWidth - innerWidth';
      expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
      expect(view.problems).toEqual([]);
    } finally {
      await view.close();
    }
  });
});
