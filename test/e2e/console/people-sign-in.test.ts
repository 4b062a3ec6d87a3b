/** How people sign in, in the view of people: invitations that sign another browser in, its sign-in, and providers. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { picture, tabTo } from '../support/keyboard.ts';
import {
  atKeys,
  PRINCIPALS,
  startPeopleStand,
  takeSecret,
  type PeopleStand,
} from '../support/people-stand.ts';

const PROVIDERS = '/api/v1/sign-in-providers';
const HOSTILE = '<img src=x onerror="document.title=1"> \u202Egnp.exe';
const ACME = {
  name: 'Acme',
  issuer: 'https://login.example.com',
  client_id: 'portico',
  groups_claim: 'groups',
  group_map: { 'CN=Platform Team': 'platform' },
  required_claims: { groups: ['Employees', 'Guests'] },
};

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
): Promise<void> {
  const view = await stand.open(search);
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

async function addProvider(body: object): Promise<string> {
  const { status, json, text } = await stand.gateway.api('POST', PROVIDERS, body);
  if (status !== 201) throw new Error(text);
  return String(json['id']);
}

/** Opens a link in a new browser and signs in with it. @returns the page; close it with its context */
async function openLink(link: string): Promise<Page> {
  const context = await stand.browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.click('button:text("Sign in")');
  return page;
}

const OPEN: Readonly<Record<string, [button: string | undefined, ready: string]>> = {
  '?tab=invitations': ['Invite somebody', 'form.form'],
  '?tab=providers': [undefined, 'th a'],
  '?tab=providers&add=provider': [undefined, 'form.form'],
  '?tab=providers&provider=ID': ['Name somebody', 'tbody th'],
};

it.each([
  ['?tab=invitations', 'dark'],
  ['?tab=providers', 'light'],
  ['?tab=providers&add=provider', 'dark'],
  ['?tab=providers&provider=ID', 'light'],
] as const)('[OPS-1] /console/people%s looks right, %s', async (search, theme) => {
  const long = `Provider ${theme} ${search.length} ${'long-'.repeat(8)}`;
  const issuer = `https://login${search.length}.example.com/${'realm/'.repeat(20)}`;
  const id = await addProvider({ ...ACME, name: long, issuer });
  const principal = await stand.addPrincipal(`Mira ${search}`);
  await stand.gateway.api('POST', '/api/v1/invitations', { principal });
  const subject = 'subject-'.repeat(20);
  await stand.gateway.api('POST', '/api/v1/identities', { provider: id, subject, principal });
  const view = await stand.open(search.replace('ID', id), undefined, { theme });
  const { page } = view;
  try {
    const [button, ready] = OPEN[search] ?? [undefined, 'h1'];
    if (button !== undefined) await page.click(`button:text("${button}")`);
    await page.waitForSelector(ready);
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
    await stand.gateway.api('DELETE', `${PROVIDERS}/${id}`);
  }
});

it('[OPS-1] [ACC-7] invites a new person, whose browser is signed in by the link, and then signed out', async () => {
  await inPeople('?tab=invitations', async (page, look) => {
    await page.click('button:text("Invite somebody")');
    await page.getByLabel('Name', { exact: true }).fill('Nina');
    await page.getByLabel('Groups').fill('guests');
    await page.click('button:text("Make the link")');
    await page.waitForSelector('.shown-once textarea:focus');
    await look('link');
    const link = await takeSecret(page);
    expect(link).toContain(`${stand.gateway.origin}/sign-in#`);
    const code = link.slice(link.indexOf('#') + 1);
    expect(code.length).toBeGreaterThan(20);
    await page.reload();
    await page.waitForSelector('th a:has-text("Nina")');
    expect(await page.content()).not.toContain(code);
    // Another browser: Nina's.
    const hers = await openLink(link);
    await hers.waitForSelector('h1:text("You are signed in")');
    expect(await hers.textContent('main, body')).toContain('Nina');
    const again = await openLink(link);
    await again.waitForSelector('#problem:not(:empty)');
    await again.context().close();
    await page.click('th a:has-text("Nina")');
    await page.waitForSelector('h1:focus:has-text("Nina")');
    expect(await page.textContent('.facts')).toContain('guests');
    const row = page.locator('tr', { hasText: 'an invitation' });
    await row.locator('button', { hasText: 'Sign out' }).first().click();
    await page.click('dialog[open] button:text("Sign out")');
    await page.waitForSelector('[role=status]:focus:text("The browser is signed out.")');
    await hers.reload();
    await hers.waitForSelector('h1:text("Sign in to Portico")');
    await hers.context().close();
  });
});

it('[OPS-1] [ACC-7] invites an existing person, and nobody if two have the name', async () => {
  const first = await stand.addPrincipal('Twin');
  await stand.addPrincipal('Twin');
  await inPeople('?tab=invitations', async page => {
    await page.click('button:text("Invite somebody")');
    await page.selectOption('select', 'known');
    const who = page.getByLabel('Name, or id');
    await who.fill('Twin');
    await page.click('button:text("Make the link")');
    await page.waitForSelector('.form [role=alert]:has-text("Several have this name")');
    expect(await who.inputValue()).toBe('Twin');
    await who.fill(first);
    await page.click('button:text("Make the link")');
    const hers = await openLink(await takeSecret(page));
    await hers.waitForSelector('h1:text("You are signed in")');
    await hers.context().close();
  });
  const { json } = await stand.gateway.api('GET', `/api/v1/sign-ins?principal=${first}`);
  expect(json['total']).toBe(1);
});

it('[OPS-1] [ACC-7] creates a link and withdraws it, with the keyboard', async () => {
  const id = await stand.addPrincipal('Keys');
  await inPeople(`?principal=${id}`, async page => {
    const { press } = atKeys(page);
    await page.waitForSelector('text=There are no open invitations.');
    await press(/^Invite$/);
    await press(/^Make the link$/);
    await page.waitForSelector('.shown-once textarea:focus');
    const link = await page.inputValue('.shown-once textarea');
    await press(/^I have it$/);
    await page.waitForSelector('button:focus:text("Invite")');
    await press(/^Withdraw$/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=status]:focus:has-text("is withdrawn")');
    const hers = await openLink(link);
    await hers.waitForSelector('#problem:not(:empty)');
    expect(await hers.textContent('h1')).toBe('Sign in to Portico');
    await hers.context().close();
  });
});

it('[OPS-1] [ACC-7] adds a provider, which appears as a button of the sign-in page, and deletes it, with the keyboard', async () => {
  await inPeople('?tab=providers', async page => {
    const { press, type } = atKeys(page);
    await press(/^Skip to the content$/);
    await press(/^Add a provider$/);
    await page.waitForSelector('h1:focus');
    await type(/^Name$/, 'Gooble');
    await type(/^Issuer$/, 'https://accounts.google.com');
    await type(/^Client id$/, 'portico');
    await tabTo(page, /^Everybody who may sign in gets a principal/);
    await page.keyboard.press('Space');
    await type(/^Who may sign in$/, 'acme.com');
    await press(/^Add it$/);
    // Not sent: the line is incomplete.
    await page.waitForSelector('.wrong:has-text("on both sides of the =")');
    await page.focus('h1');
    await tabTo(page, /^Who may sign in$/);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    await press(/^Add it$/);
    // Refused: everybody can have an account there.
    await page.waitForSelector('.wrong:has-text("anybody can have an account there")');
    expect(await page.getByLabel('Issuer').inputValue()).toBe('https://accounts.google.com');
    await page.focus('h1');
    await type(/^Who may sign in$/, 'hd = acme.com');
    await press(/^Add it$/);
    await page.waitForSelector('h1:focus:has-text("Gooble")');
    expect(await page.textContent('.facts')).toContain('hd = acme.com');
    const signIn = await fetch(`${stand.gateway.origin}/sign-in`);
    expect(await signIn.text()).toContain('Sign in with Gooble');
    await press(/^Delete$/);
    expect(await page.textContent('dialog[open]')).toContain('the principals stay');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.notice:focus:has-text("Gooble is deleted")');
    await page.waitForSelector('text=There is none yet.');
  });
  const { json } = await stand.gateway.api('GET', PROVIDERS);
  expect(json['total']).toBe(0);
});

it('[OPS-1] [ACC-7] edits a provider; reports an edit elsewhere, and keeps the input', async () => {
  const id = await addProvider(ACME);
  await inPeople(`?tab=providers&provider=${id}`, async (page, look) => {
    await page.click('button:text("Edit")');
    const map = page.getByLabel('Groups by the values of that claim');
    expect(await map.inputValue()).toBe('CN=Platform Team = platform');
    await map.fill('CN=Platform Team = platform\nFinance = finance');
    await stand.gateway.api('PATCH', `${PROVIDERS}/${id}`, { client_id: 'other' });
    await page.click('button:text("Save")');
    await page.waitForSelector('[role=alert]:has-text("meanwhile (client_id)")');
    expect(await map.inputValue()).toContain('Finance = finance');
    await look('provider-conflict');
    await page.click('button:text("Save over it")');
    await page.waitForSelector('form.form', { state: 'detached' });
  });
  const { json } = await stand.gateway.api('GET', `${PROVIDERS}/${id}`);
  expect(json).toMatchObject({
    client_id: 'other',
    group_map: { 'CN=Platform Team': 'platform', Finance: 'finance' },
    required_claims: ACME.required_claims,
  });
  await stand.gateway.api('DELETE', `${PROVIDERS}/${id}`);
});

it('[OPS-1] [ACC-7] links a person to a provider, whose text is shown as text', async () => {
  const id = await addProvider({ ...ACME, name: HOSTILE.slice(0, 60) });
  const principal = await stand.addPrincipal('Ruth');
  await inPeople(`?tab=providers&provider=${id}`, async page => {
    await page.click('button:text("Name somebody")');
    await page.getByLabel('Subject').fill(HOSTILE);
    await page.getByLabel('Signs in as').fill('Nobody at all');
    await page.click('button:text("Add it")');
    await page.waitForSelector('.form [role=alert]:has-text("nobody with this name")');
    expect(await page.getByLabel('Subject').inputValue()).toBe(HOSTILE);
    await page.getByLabel('Signs in as').fill('Ruth');
    await page.click('button:text("Add it")');
    await page.waitForSelector('tbody th');
    for (const at of ['h1', 'td.limits']) {
      expect(await page.textContent(at)).toContain('onerror="document.title=1"> ⟨U+202E⟩gnp');
    }
    expect(await page.locator('main img').count()).toBe(0);
    await page.click('text=its principal');
    await page.waitForSelector('h1:focus:has-text("Ruth")');
    await page.waitForSelector('tr:has-text("login.example.com")');
    await page.locator('tr', { hasText: 'login.example.com' }).locator('button').first().click();
    await page.click('dialog[open] button:text("Remove")');
    await page.waitForSelector('text=No provider signs it in.');
  });
  expect((await stand.gateway.api('GET', `${PRINCIPALS}/${principal}`)).status).toBe(200);
});
