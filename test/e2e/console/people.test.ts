/**
 * The view of people in a real browser against a real gateway: principals, their groups and tokens, and what a token can do at the gateway.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import {
  atKeys,
  PRINCIPALS,
  startPeopleStand,
  takeSecret,
  type PeopleStand,
} from '../support/people-stand.ts';

const HOSTILE = '<img src=x onerror="document.title=1"> \u202Egnp.exe';
const SECRET = /portico_[\w-]{43}/;
const SOON_MS = 30_000;

let stand: PeopleStand;

beforeAll(async () => {
  stand = await startPeopleStand();
});

afterAll(async () => {
  await stand?.stop();
});

/** Opens the view, runs a test in it, and checks at the end that the page had no problems. */
async function inPeople(
  search: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
  token?: string,
): Promise<void> {
  const view = await stand.open(search, token);
  try {
    await act(view.page, async name => {
      await picture(view.page, `console-people-${name}`);
      expect(await view.violations()).toEqual([]);
    });
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
}

const idIn = (page: Page) => new URL(page.url()).searchParams.get('principal') ?? '';

it.each([
  ['?add=principal', 'light'],
  ['?principal=ID', 'dark'],
] as const)('[OPS-1] /console/people%s looks right, %s', async (search, theme) => {
  const groups = ['engineering', 'on-call', `g${'-long'.repeat(12)}`];
  const id = await stand.addPrincipal(`Mira ${theme}`, { groups });
  const limited = { servers: ['notes'], tools: ['notes.get_*'], scopes: ['tools:read'] };
  await stand.gateway.createToken({ name: 'laptop of somebody', principal: id, ...limited });
  const view = await stand.open(search.replace('ID', id), undefined, { theme });
  const { page } = view;
  try {
    await page.waitForSelector(search === '?principal=ID' ? 'td.limits' : 'form.form');
    if (search === '?principal=ID') await page.click('button:text("Make a token")');
    for (const width of [360, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await picture(page, `console-people${search.replaceAll(/\W/g, '-')}-${width}-${theme}`);
      expect([width, await view.violations()]).toEqual([width, []]);
      const overflow = 'document.documentElement.scrollWidth - innerWidth';
      expect([width, await page.evaluate<number>(overflow)]).toEqual([width, 0]);
    }
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});

it('[OPS-1] [ACC-1] [ACC-2] creates a principal in a group, with a token that works, by mouse', async () => {
  await inPeople('', async (page, look) => {
    await page.click('text=Add a principal');
    await page.fill('input:below(:text("Name"))', 'Grace');
    await page.getByLabel('Groups').fill('engineering');
    // Input that was typed but not added counts on submit.
    await page.click('button:text("Add it")');
    await page.waitForSelector('h1:focus:has-text("Grace")');
    expect(await page.textContent('.facts')).toContain('engineering');
    await page.click('button:text("Make a token")');
    await page.getByLabel('Name of the token').fill('laptop');
    await page.click('button:text("Make it")');
    await page.waitForSelector('.shown-once textarea:focus');
    await look('shown-once');
    const token = await takeSecret(page);
    expect(token).toMatch(SECRET);
    expect((await stand.ask(token)).json).toMatchObject({
      name: 'Grace',
      groups: ['engineering'],
      scopes: ['tools:read', 'tools:call'],
    });
    const call = { name: 'notes.echo', arguments: { message: 'it works' } };
    const called = await stand.gateway.api('POST', '/api/v1/tools/call', call, token);
    expect([called.status, called.text]).toEqual([200, expect.stringContaining('it works')]);
    // The token is nowhere any more: not in the page, and not after a reload.
    expect(await page.content()).not.toMatch(SECRET);
    await page.reload();
    const row = page.locator('tr', { hasText: 'laptop' });
    await row.waitFor();
    expect(await page.content()).not.toMatch(SECRET);
    expect(await row.textContent()).toContain('tools:read tools:call');
  });
});

it('[OPS-1] [ACC-1] rotates a token and revokes it', async () => {
  const id = await stand.addPrincipal('Joan');
  const first = await stand.gateway.createToken({ name: 'server', principal: id });
  await inPeople(`?principal=${id}`, async page => {
    await page.click('button:text("New value")');
    await page.selectOption('dialog[open] select', 'In an hour');
    await page.click('dialog[open] button:text("New value")');
    const second = await takeSecret(page);
    expect(second).not.toBe(first.token);
    // Both work: the former one for an hour.
    expect([(await stand.ask(first.token)).status, (await stand.ask(second)).status]).toEqual([
      200, 200,
    ]);
    await page.waitForSelector('text=The old value works until');
    await page.click('button:text("New value")');
    await page.selectOption('dialog[open] select', 'At once');
    await page.click('dialog[open] button:text("New value")');
    const third = await takeSecret(page);
    await stand.untilRefused(first.token);
    await stand.untilRefused(second);
    expect((await stand.ask(third)).status).toBe(200);
    await page.click('button:text("Revoke")');
    expect(await page.textContent('dialog[open]')).toContain('refused everywhere');
    await page.click('dialog[open] button:text("Revoke")');
    await page.waitForSelector('text=It has no token.');
    await page.waitForSelector('[role=status]:focus:has-text("is revoked")');
    await stand.untilRefused(third);
  });
});

it('[OPS-1] [ACC-1] [ACC-2] does all of it with the keyboard', async () => {
  await inPeople('', async page => {
    const keys = page.keyboard;
    const { press, type } = atKeys(page);
    await press(/^Skip to the content$/);
    await press(/^Add a principal$/);
    await page.waitForSelector('h1:focus');
    await type(/^Name$/, 'Keys');
    await type(/^Groups$/, 'No Group!');
    await keys.press('Enter');
    await press(/^Add it$/);
    await page.waitForSelector('.wrong');
    expect(await page.textContent('.wrong')).toContain('use 1 to 63 of a-z');
    for (const name of ['No', 'Group!']) {
      await page.focus('h1');
      await press(new RegExp(`^Remove ${name}$`));
    }
    await page.waitForSelector('.list-field input:focus');
    await keys.type('writers');
    await keys.press('Enter');
    await press(/^Add it$/);
    await page.waitForSelector('h1:focus:has-text("Keys")');
    await press(/^Make a token$/);
    await keys.type('typed');
    await tabTo(page, /^see servers/);
    await keys.press('Space');
    await press(/^Make it$/);
    await page.waitForSelector('.shown-once textarea:focus');
    const token = await page.inputValue('.shown-once textarea');
    await press(/^I have it$/);
    await page.waitForSelector('h2:focus');
    const scopes = ['tools:read', 'tools:call', 'servers:read'];
    expect((await stand.ask(token)).json).toMatchObject({ groups: ['writers'], scopes });
    await press(/^New value$/);
    await press(/^New value$/);
    await page.waitForSelector('.shown-once textarea:focus');
    await stand.untilRefused(token);
    await press(/^I have it$/);
    await press(/^Revoke$/);
    await keys.press('Enter');
    await page.waitForSelector('[role=status]:focus:has-text("is revoked")');
    await page.focus('h1');
    await press(/^Delete$/);
    expect(await page.textContent('dialog[open]')).toContain('cannot be brought back');
    const id = idIn(page);
    await keys.press('Enter');
    await page.waitForURL(/\/console\/people$/);
    await page.waitForSelector('.notice:focus:has-text("is deleted")');
    expect((await stand.gateway.api('GET', `${PRINCIPALS}/${id}`)).status).toBe(404);
  });
});

it('[OPS-1] [ACC-2] edits the groups; reports an edit elsewhere, and keeps the input', async () => {
  const id = await stand.addPrincipal('Ida', { groups: ['one'] });
  const { token } = await stand.gateway.createToken({ name: 'x', principal: id });
  await inPeople(`?principal=${id}`, async (page, look) => {
    await page.click('button:text("Edit")');
    await page.click('button[aria-label="Remove one"]');
    await page.locator('.list-field input').fill('two');
    await stand.gateway.api('PATCH', `${PRINCIPALS}/${id}`, { name: 'Ida of another' });
    await page.click('button:text("Save")');
    await page.waitForSelector('[role=alert]');
    expect(await page.textContent('[role=alert]')).toContain('meanwhile (name)');
    expect(await page.inputValue('.list-field input')).toBe('two');
    await look('conflict');
    await page.click('button:text("Save over it")');
    await page.waitForSelector('form.form', { state: 'detached' });
    const { json } = await stand.gateway.api('GET', `${PRINCIPALS}/${id}`);
    expect(json).toMatchObject({ name: 'Ida of another', groups: ['two'] });
    await until('the token obeys', SOON_MS, async () => {
      const { groups } = (await stand.ask(token)).json;
      return JSON.stringify(groups) === '["two"]' ? true : undefined;
    });
  });
});

it('[OPS-1] tells a principal without a limit from one that may do nothing', async () => {
  await stand.addPrincipal('Limit none');
  await stand.addPrincipal('Limit all', { scopes: [] });
  const view = await stand.open('?name=Limit');
  try {
    const cells = view.page.locator('tbody tr:has-text("Limit") td:last-child');
    await expect.poll(() => cells.allTextContents()).toEqual(['nothing', 'no limit']);
  } finally {
    await view.close();
  }
});

it('[OPS-1] [ACC-9] offers for a token no more than its principal may do', async () => {
  const id = await stand.addPrincipal('Bound', { scopes: ['tools:read'] });
  const scopes = ['tools:read', 'servers:write'];
  await stand.gateway.createToken({ name: 'wide', principal: id, scopes });
  await inPeople(`?principal=${id}`, async page => {
    const row = page.locator('tr', { hasText: 'wide' });
    await row.waitFor();
    expect(await row.textContent()).toContain('not servers:write, which its principal may not');
    await page.click('button:text("Make a token")');
    expect(await page.locator('.choices label').allTextContents()).toEqual([
      'see tools tools:read',
    ]);
    await page.getByLabel('Name of the token').fill('none');
    await page.click('.choices label');
    await page.click('button:text("Make it")');
    // The API refuses a token without any scope; the input is kept.
    await page.waitForSelector('.choices .wrong');
    expect(await page.getByLabel('Name of the token').inputValue()).toBe('none');
  });
});

it('[OPS-1] [ACC-9] shows no people to an administrator whose token is limited', async () => {
  const limits = { scopes: ['admin'], servers: ['notes'] };
  const limited = await stand.gateway.createToken({ name: 'Limited', ...limits });
  await inPeople(
    '',
    async page => {
      await page.waitForSelector('[role=alert]:has-text("a token without limits")');
      expect(await page.locator('tbody').count()).toBe(0);
      await page.click('text=Add a principal');
      await page.getByLabel('Name', { exact: true }).fill('Nobody');
      await page.selectOption('select', 'bound');
      expect(await page.locator('.choices label').count()).toBe(0);
      await page.click('button:text("Add it")');
      await page.waitForSelector('.form [role=alert]:has-text("a token without limits")');
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Nobody');
    },
    limited.token,
  );
  const found = await stand.gateway.api('GET', `${PRINCIPALS}?name=Nobody`);
  expect(found.json['total']).toBe(0);
});

it('[OPS-1] shows the names that others chose as text', async () => {
  const id = await stand.addPrincipal(HOSTILE);
  await stand.gateway.createToken({ name: HOSTILE, principal: id });
  await inPeople('', async page => {
    await page.fill('input[type=search]', 'onerror');
    await page.click('th a');
    await page.waitForSelector('tbody th');
    for (const at of ['h1', 'tbody th']) {
      expect(await page.textContent(at)).toContain('onerror="document.title=1"> ⟨U+202E⟩gnp');
    }
    expect(await page.locator('main img').count()).toBe(0);
  });
});

it('[OPS-1] filters by group, and loads a long list page by page', async () => {
  const many = Array.from({ length: 105 }, (_, at) => `many-${at}`);
  for (const name of many) await stand.addPrincipal(name, { groups: ['many'] });
  await inPeople('', async page => {
    await page.waitForSelector('tbody tr');
    await page.getByLabel('Group').fill('many');
    await page.waitForSelector('text=100 of 105');
    expect(page.url()).toContain('group=many');
    await page.click('text=Load more');
    await page.waitForSelector('text=105 of 105');
    await page.fill('input[type=search]', 'MANY-104');
    await page.waitForSelector('text=1 of 1');
  });
});
