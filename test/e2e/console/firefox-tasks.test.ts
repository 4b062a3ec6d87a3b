/**
 * The main tasks of the console in Firefox, by mouse and then with the keyboard alone: a team's day as in Chromium, and what that day
 * lacks: a token, a rule of the cache, a webhook, a secret, a machine, a budget and an invitation are created, a client is connected, a
 * tool is called, usage is viewed, and an account is connected and disconnected.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { startDay, type Day } from '../support/day.ts';
import { firefoxKeys, firefoxMouse } from '../support/firefox-person.ts';
import { startFirefox, type FirefoxPage } from '../support/firefox.ts';
import { startOauthUpstream, type OauthUpstream } from '../support/oauth-upstream.ts';
import type { Person } from '../support/person.ts';

const COUNTED_MS = 60_000;
const SHOWN_ONCE = '.shown-once textarea:focus';

const HANDS = [
  ['the mouse', firefoxMouse],
  ['the keyboard alone', firefoxKeys],
] as const;

describe.each(HANDS)('by %s', (_hand, handOf) => {
  let day: Day;
  let page: FirefoxPage;
  let person: Person;
  let tickets: OauthUpstream;

  beforeAll(async () => {
    [day, page, tickets] = await Promise.all([startDay(), startFirefox(), startOauthUpstream()]);
    person = handOf(page);
    await page.resize(1440);
    await page.goto(`${day.gateway.origin}/console`);
    await person.type('[name=code]', day.admin);
    await person.click('button[type=submit]');
    await person.see('main h1:has-text("Overview")');
  });

  afterAll(async () => {
    await page?.close();
    await day?.stop();
    await tickets?.stop();
  });

  /** Allows a server to everyone. */
  async function allow(server: string): Promise<void> {
    const rule = { effect: 'allow', subject: { kind: 'everyone' }, server };
    const { status, text } = await day.gateway.api('POST', '/api/v1/access/rules', rule);
    if (status !== 201) throw new Error(text);
  }

  it('[OPS-1] a team’s day: servers, rights, a toolset, a rotated token, an approval, why, and who', async () => {
    for (const [, act] of day.steps) await act(person);
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

  it('[OPS-1] [ACC-1] creates a token that works', async () => {
    await page.goto(`${day.gateway.origin}/console/people`);
    await person.click('th a:has-text("Ria")');
    await person.click('button:text-is("Make a token")');
    await person.type('label:text-is("Name of the token") + input', 'desk');
    await person.click('button:text-is("Make it")');
    await person.see(SHOWN_ONCE);
    const token = await person.valueOf(SHOWN_ONCE);
    const { status, json } = await day.gateway.api('GET', '/api/v1/token', undefined, token);
    expect([status, json['name']]).toEqual([200, 'Ria']);
    await person.click('button:text-is("I have it")');
    await person.see('tr:has-text("desk")');
    expect(page.problems).toEqual([]);
  });

  it('[OPS-1] [LLM-5] adds a rule of the cache', async () => {
    await page.goto(`${day.gateway.origin}/console/settings?section=cache`);
    await person.click('a:text-is("Add a rule")');
    await person.type('label:text-is("Server") + input', 'notes');
    await person.type('label:text-is("Tool") + input', 'get_*');
    await person.click('button:text-is("Save")');
    await person.see('.notice:focus:has-text("The rule is added")');
    const { json } = await day.gateway.api('GET', '/api/v1/cache/rules');
    expect(json['rules']).toMatchObject([{ server: 'notes', tool: 'get_*' }]);
    expect(page.problems).toEqual([]);
  });

  it('[OPS-1] [OPS-7] creates a webhook, whose secret is shown once', async () => {
    await page.goto(`${day.gateway.origin}/console/settings?section=webhooks`);
    await person.click('a:text-is("Add a webhook")');
    await person.type('label:text-is("Name") + input', 'on-call');
    await person.type('label:text-is("Address") + input', 'http://127.0.0.1:9/x');
    await person.click('button:text-is("Add it")');
    await person.see(SHOWN_ONCE);
    expect(await person.valueOf(SHOWN_ONCE)).toMatch(/^whsec_/);
    await person.click('button:text-is("I have it")');
    await person.see('tbody tr:has-text("on-call")');
    const { json } = await day.gateway.api('GET', '/api/v1/webhooks');
    expect(json['webhooks']).toMatchObject([{ name: 'on-call' }]);
    expect(page.problems).toEqual([]);
  });

  it('[OPS-1] [SEC-1] stores a secret, which is never shown', async () => {
    await page.goto(`${day.gateway.origin}/console/secrets`);
    await person.click('a:text-is("Add a secret")');
    await person.type('#secret-name', 'HUB_TOKEN');
    await person.type('#secret-value', 'k-77-very-secret');
    await person.type('#secret-origins', 'https://mcp.example.com');
    await person.click('button:text-is("Store it")');
    await person.see('tbody tr:has-text("HUB_TOKEN")');
    expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain('k-77');
    const { json } = await day.gateway.api('GET', '/api/v1/secrets');
    expect(json['secrets']).toMatchObject([{ name: 'HUB_TOKEN' }]);
    expect(page.problems).toEqual([]);
  });

  it('[OPS-1] adds a machine, and creates a token while connecting a client', async () => {
    await page.goto(`${day.gateway.origin}/console/machines`);
    await person.click('a:text-is("Add a machine")');
    await person.type('#machine-name', 'build-box');
    await person.click('button:text-is("Add it")');
    await person.see(SHOWN_ONCE);
    expect(await person.valueOf(SHOWN_ONCE)).toContain(day.gateway.origin);
    await person.click('nav a:text-is("Connect a client")');
    await person.choose('label:text-is("How it signs in") + select', 'token');
    await person.type('label:text-is("Name of the token") + input', 'my laptop');
    await person.click('button:text-is("Make a token")');
    await person.see(SHOWN_ONCE);
    const command = await person.valueOf(SHOWN_ONCE);
    expect(command).toContain(`${day.gateway.origin}/mcp`);
    const [token = ''] = /portico_[\w-]{43}/.exec(command) ?? [];
    const { status } = await day.gateway.api('GET', '/api/v1/token', undefined, token);
    expect(status).toBe(200);
    expect(page.problems).toEqual([]);
  });

  it('[OPS-1] [ACC-6] [OPS-7] sets a budget, and invites a person', async () => {
    await page.goto(`${day.gateway.origin}/console/usage?tab=budgets`);
    await person.click('a:text-is("Set a budget")');
    await person.type('label:text-is("Group") + input', 'support');
    await person.click('button:text-is("Set it")');
    await person.see('.notice:focus:has-text("The budget is set")');
    await person.see('tbody tr:has-text("everybody in support")');
    await page.goto(`${day.gateway.origin}/console/people?tab=invitations`);
    await person.click('button:text-is("Invite somebody")');
    await person.type('label:text-is("Name") + input', 'Grace');
    await person.click('button:text-is("Make the link")');
    await person.see(SHOWN_ONCE);
    expect(await person.valueOf(SHOWN_ONCE)).toContain(day.gateway.origin);
    expect(page.problems).toEqual([]);
  });

  it('[OPS-1] finds a tool by words, calls it, and sees the call in the usage', async () => {
    await allow('issues');
    await page.goto(`${day.gateway.origin}/console`);
    await person.click('nav a:text-is("Tools")');
    await person.type('label:has-text("What should it do") + input', 'echo');
    await person.arrive('q=echo');
    await person.click('main button:has-text("issues.echo")');
    await person.click('button:text-is("Call it")');
    expect(await person.see('section[aria-label=Result] pre')).toContain('served');
    await until('the call is counted', COUNTED_MS, async () => {
      const { json } = await day.gateway.api('GET', '/api/v1/usage?by=server');
      return JSON.stringify(json['usage']).includes('issues') ? json : undefined;
    });
    await person.click('nav a:text-is("Usage")');
    await person.choose('label:text-is("By") + select', 'server');
    await person.arrive('by=server');
    await person.see('tbody tr:has-text("issues")');
    expect(page.problems).toEqual([]);
  });

  it('[OPS-1] [ACC-8] connects an account, and disconnects it', async () => {
    const connection_config = { url: tickets.url };
    const server = { name: 'tickets', transport_type: 'HTTP', accounts: 'per_principal' };
    await day.gateway.api('POST', '/api/v1/aggregator/servers', { ...server, connection_config });
    await allow('tickets');
    await page.goto(`${day.gateway.origin}/console`);
    await person.click('nav a:text-is("Accounts")');
    await person.click('main a:text-is("Connect")');
    await person.click('button:has-text("Sign in at tickets")');
    // These pages move while their style sheets load.
    const isWhole = `document.readyState === 'complete'`;
    await person.arrive('/interaction/');
    await page.until(isWhole);
    await person.type('[name=login]', 'ada');
    await person.type('[name=password]', 'x');
    await person.click('[type=submit]');
    await person.see('form:has([name=prompt][value=consent])');
    await page.until(isWhole);
    await person.click('[type=submit]');
    await person.arrive('/oauth/callback');
    await page.goto(`${day.gateway.origin}/console/accounts`);
    await person.see('.badge.good');
    await person.click('button:text-is("Disconnect")');
    await person.click('dialog[open] button:text-is("Disconnect")');
    await person.see('.badge:text-is("not connected")');
    expect(tickets.revoked()).toBe(1);
  });
});
