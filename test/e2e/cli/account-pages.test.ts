/** A person at a terminal without an account at a server: a page opens, the command waits, and continues when the account is connected. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { createLoginMachine, type LoginMachine } from '../support/logging-in.ts';
import { registerNotes, startNotes, type NotesServer } from '../support/notes-server.ts';
import { runPortico } from '../support/portico-command.ts';
import { startTerminal } from '../support/terminal.ts';

const SOON_MS = 60_000;
const CTRL_C = '\u0003';
let notes: NotesServer;
let gateway: Gateway;
let browser: Browser;
/** A machine whose `xdg-open` records the address. */
let machine: LoginMachine;
let whenServer: (status: string) => Promise<unknown>;
let count = 0;
let token: string;

beforeAll(async () => {
  [notes, gateway, browser, machine] = await Promise.all([
    startNotes(),
    startGateway(),
    startBrowser(),
    createLoginMachine('echo "$1" > "$HOME/opened"'),
  ]);
  whenServer = await registerNotes(gateway, notes);
  await whenServer('DEGRADED');
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  notes?.stop();
  await machine?.remove();
});
beforeEach(async () => {
  ({ token } = await gateway.createToken({ name: `person${(count += 1)}` }));
  await rm(join(machine.env['HOME'] ?? '', 'opened'), { force: true });
});

const env = (more: Record<string, string> = machine.env) => ({
  ...more,
  PORTICO_URL: gateway.origin,
  PORTICO_TOKEN: token,
});
const link = () => `${gateway.origin}/connect/notes`;
const opened = () =>
  until('the page is opened', SOON_MS, () =>
    readFile(join(machine.env['HOME'] ?? '', 'opened'), 'utf8').then(
      text => text.trim() || undefined,
      () => undefined,
    ),
  );

/** Does what the person does in a real browser: signs in, and pastes a token of the server. */
async function connectInBrowser(url: string): Promise<void> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    await page.getByLabel(/token/i).fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /connect your account/i }).waitFor();
    await page.getByText('I have a token instead').click();
    await page.getByLabel(/token of notes/i).fill(`token${count}-at-notes`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Connected' }).waitFor();
  } finally {
    await context.close();
  }
}

it('[ACC-8] [CLI-4] accounts connect opens the page, waits and reports the connection; a call before that says how to connect', async () => {
  const early = await runPortico(['call', 'notes.whoami'], { env: env() });
  expect([early.code, early.err]).toEqual([
    4,
    expect.stringContaining('portico accounts connect notes'),
  ]);
  const standIn = await runPortico(['call', 'notes.connect'], { env: env() });
  expect([standIn.code, standIn.out]).toEqual([1, expect.stringContaining(`${link()} `)]);

  const terminal = startTerminal(['accounts', 'connect', 'notes'], env());
  await terminal.see('on the page that opens');
  await terminal.see(link());
  await terminal.see('Waiting for your account');
  expect(await opened()).toBe(link());
  await connectInBrowser(link());
  const { code, rest } = await terminal.end();
  expect([code, rest]).toEqual([0, expect.stringContaining('connected; calls of')]);
  await whenServer('CONNECTED');
});

it('[ACC-8] [CLI-4] a call opens the page, waits and is then made', async () => {
  const terminal = startTerminal(['call', 'notes.whoami'], env());
  await terminal.see(link());
  await terminal.see('Waiting for your account');
  expect(await opened()).toBe(link());
  await connectInBrowser(link());
  await terminal.see(`You are TOKEN${count}-AT-NOTES`);
  expect((await terminal.end()).code).toBe(0);
});

it('[ACC-8] [CLI-4] opens no page if nobody would see it or it is disabled; Ctrl-C ends it at once', async () => {
  const { DISPLAY: _display, ...bare } = machine.env as Record<string, string>;
  for (const [words, given] of [
    [['call', 'notes.whoami'], bare],
    [['call', '--no-browser', 'notes.whoami'], machine.env],
    [['accounts', 'connect', 'notes', '--no-browser'], machine.env],
  ] as const) {
    const terminal = startTerminal(words, env(given));
    expect(await terminal.see(link())).toContain('on this page');
    await terminal.see('Waiting for your account');
    terminal.type(CTRL_C);
    const { code, rest } = await terminal.end();
    expect([code, rest]).toEqual([130, expect.stringContaining('cancelled')]);
  }
  await expect(readFile(join(machine.env['HOME'] ?? '', 'opened'))).rejects.toThrow('ENOENT');
});

it('[ACC-8] [CLI-4] a program does not wait: the call fails with the link', async () => {
  const { code, out } = await runPortico(['call', 'notes.whoami'], { env: env() });
  expect([code, out]).toEqual([1, expect.stringContaining(`${link()} `)]);
});

it('[ACC-8] [CLI-4] accounts connect fails at once for an unknown server or a caller that has no accounts', async () => {
  const words = ['accounts', 'connect', 'nowhere', '--no-browser'];
  const none = await runPortico(words, { env: env() });
  expect([none.code, none.err]).toEqual([4, expect.stringContaining("no server 'nowhere'")]);
  const nobody = await runPortico(['accounts', 'connect', 'notes', '--no-browser'], {
    env: { ...env(), PORTICO_TOKEN: gateway.adminToken },
  });
  expect([nobody.code, nobody.err]).toEqual([3, expect.stringContaining('has no accounts')]);
});
