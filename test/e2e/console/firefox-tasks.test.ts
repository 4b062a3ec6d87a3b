/**
 * The main tasks of the console in Firefox, by the mouse: a team's day as it is in Chromium, and what that day lacks: a token, a rule of the
 * cache, a webhook, a secret, a machine, a budget and an invitation are made, and a client is connected.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDay, type Day } from '../support/day.ts';
import { firefoxMouse } from '../support/firefox-mouse.ts';
import { startFirefox, type FirefoxPage } from '../support/firefox.ts';
import type { Mouse } from '../support/mouse.ts';

const SHOWN_ONCE = '.shown-once textarea:focus';

let day: Day;
let page: FirefoxPage;
let mouse: Mouse;

beforeAll(async () => {
  [day, page] = await Promise.all([startDay(), startFirefox()]);
  mouse = firefoxMouse(page);
  await page.resize(1440);
  await page.goto(`${day.gateway.origin}/console`);
  await mouse.type('[name=code]', day.admin);
  await mouse.click('button[type=submit]');
  await mouse.see('main h1:has-text("Overview")');
});

afterAll(async () => {
  await page?.close();
  await day?.stop();
});

it('[OPS-1] a team’s day: servers, rights, a toolset, a new value, an approval, why, and who', async () => {
  for (const [, act] of day.steps) await act(mouse);
  const { json } = await day.gateway.api('GET', '/api/v1/aggregator/servers');
  const servers = json['servers'] as { name: string; status: string; held_tools: number }[];
  const states = servers.map(({ name, status }) => [name, status === 'CONNECTED']);
  expect(states.toSorted()).toEqual([
    ['issues', true],
    ['notes', true],
    ['wiki', false],
  ]);
  const held = await day.gateway.api('GET', '/api/v1/approvals?state=waiting');
  expect(held.json['approvals']).toEqual([]);
  expect(page.problems).toEqual([]);
});

it('[OPS-1] [ACC-1] makes a token that works', async () => {
  await page.goto(`${day.gateway.origin}/console/people`);
  await mouse.click('th a:has-text("Ria")');
  await mouse.click('button:text-is("Make a token")');
  await mouse.type('label:text-is("Name of the token") + input', 'desk');
  await mouse.click('button:text-is("Make it")');
  await mouse.see(SHOWN_ONCE);
  const token = await mouse.valueOf(SHOWN_ONCE);
  const { status, json } = await day.gateway.api('GET', '/api/v1/token', undefined, token);
  expect([status, json['name']]).toEqual([200, 'Ria']);
  await mouse.click('button:text-is("I have it")');
  await mouse.see('tr:has-text("desk")');
  expect(page.problems).toEqual([]);
});

it('[OPS-1] [LLM-5] adds a rule of the cache', async () => {
  await page.goto(`${day.gateway.origin}/console/settings?section=cache`);
  await mouse.click('a:text-is("Add a rule")');
  await mouse.type('label:text-is("Server") + input', 'notes');
  await mouse.type('label:text-is("Tool") + input', 'get_*');
  await mouse.click('button:text-is("Save")');
  await mouse.see('.notice:focus:has-text("The rule is added")');
  const { json } = await day.gateway.api('GET', '/api/v1/cache/rules');
  expect(json['rules']).toMatchObject([{ server: 'notes', tool: 'get_*' }]);
  expect(page.problems).toEqual([]);
});

it('[OPS-1] [OPS-7] makes a webhook, whose secret is shown once', async () => {
  await page.goto(`${day.gateway.origin}/console/settings?section=webhooks`);
  await mouse.click('a:text-is("Add a webhook")');
  await mouse.type('label:text-is("Name") + input', 'on-call');
  await mouse.type('label:text-is("Address") + input', 'http://127.0.0.1:9/x');
  await mouse.click('button:text-is("Add it")');
  await mouse.see(SHOWN_ONCE);
  expect(await mouse.valueOf(SHOWN_ONCE)).toMatch(/^whsec_/);
  await mouse.click('button:text-is("I have it")');
  await mouse.see('tbody tr:has-text("on-call")');
  const { json } = await day.gateway.api('GET', '/api/v1/webhooks');
  expect(json['webhooks']).toMatchObject([{ name: 'on-call' }]);
  expect(page.problems).toEqual([]);
});

it('[OPS-1] [SEC-1] stores a secret, which is not shown', async () => {
  await page.goto(`${day.gateway.origin}/console/secrets`);
  await mouse.click('a:text-is("Add a secret")');
  await mouse.type('#secret-name', 'HUB_TOKEN');
  await mouse.type('#secret-value', 'k-77-very-secret');
  await mouse.type('#secret-origins', 'https://mcp.example.com');
  await mouse.click('button:text-is("Store it")');
  await mouse.see('tbody tr:has-text("HUB_TOKEN")');
  expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain('k-77');
  const { json } = await day.gateway.api('GET', '/api/v1/secrets');
  expect(json['secrets']).toMatchObject([{ name: 'HUB_TOKEN' }]);
  expect(page.problems).toEqual([]);
});

it('[OPS-1] adds a machine, and makes a token where a client is connected', async () => {
  await page.goto(`${day.gateway.origin}/console/machines`);
  await mouse.click('a:text-is("Add a machine")');
  await mouse.type('#machine-name', 'build-box');
  await mouse.click('button:text-is("Add it")');
  await mouse.see(SHOWN_ONCE);
  expect(await mouse.valueOf(SHOWN_ONCE)).toContain(day.gateway.origin);
  await mouse.click('nav a:text-is("Connect a client")');
  await mouse.choose('label:text-is("How it signs in") + select', 'token');
  await mouse.type('label:text-is("Name of the token") + input', 'my laptop');
  await mouse.click('button:text-is("Make a token")');
  await mouse.see(SHOWN_ONCE);
  const command = await mouse.valueOf(SHOWN_ONCE);
  expect(command).toContain(`${day.gateway.origin}/mcp`);
  const [token = ''] = /portico_[\w-]{43}/.exec(command) ?? [];
  const { status } = await day.gateway.api('GET', '/api/v1/token', undefined, token);
  expect(status).toBe(200);
  expect(page.problems).toEqual([]);
});

it('[OPS-1] [ACC-6] [OPS-7] sets a budget, and invites somebody', async () => {
  await page.goto(`${day.gateway.origin}/console/usage?tab=budgets`);
  await mouse.click('a:text-is("Set a budget")');
  await mouse.type('label:text-is("Group") + input', 'support');
  await mouse.click('button:text-is("Set it")');
  await mouse.see('.notice:focus:has-text("The budget is set")');
  await mouse.see('tbody tr:has-text("everybody in support")');
  await page.goto(`${day.gateway.origin}/console/people?tab=invitations`);
  await mouse.click('button:text-is("Invite somebody")');
  await mouse.type('label:text-is("Name") + input', 'Grace');
  await mouse.click('button:text-is("Make the link")');
  await mouse.see(SHOWN_ONCE);
  expect(await mouse.valueOf(SHOWN_ONCE)).toContain(day.gateway.origin);
  expect(page.problems).toEqual([]);
});
