/** Usage in the console while some calls are not counted yet: the page says so, and shows them by itself once they are. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture } from '../support/keyboard.ts';

const HOUR_MS = 3_600_000;
const BUSY_MS = 10_000;
const CALLS = 3;

let gateway: Gateway;
let browser: Browser;
let admin = '';

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ env: QUIET }), startBrowser()]);
  admin = (await gateway.createToken({ name: 'Ada', scopes: ['admin', 'tools:read'] })).token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** Changes the database of the gateway while it runs. */
async function change(act: (database: DatabaseSync) => void): Promise<void> {
  const folder = join(gateway.data, 'storage', 'd1');
  const [file = ''] = (await readdir(folder, { recursive: true })).filter(
    name => name.endsWith('.sqlite') && !name.includes('metadata'),
  );
  const database = new DatabaseSync(join(folder, file), { timeout: BUSY_MS });
  try {
    act(database);
  } finally {
    database.close();
  }
}

/** Adds calls of an hour ago, in their stored form. */
function addChunk(database: DatabaseSync): void {
  const at = Date.now() - HOUR_MS;
  const hex = at.toString(16).padStart(12, '0');
  const idOf = (n: number) => `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-00000000000${n}`;
  const detail = { server: 's1', is_error: false, duration_ms: 80 };
  const rows = Array.from({ length: CALLS }, (_, n) => {
    return [idOf(n), at, 'ria', 't1', 'tool.call', 'notes.echo', 'done', null, detail];
  });
  const body = deflateRawSync(JSON.stringify(rows)).toString('base64url');
  database
    .prepare('INSERT INTO call_chunks VALUES (?, ?, ?, ?, ?, ?, ?)')
    .run(idOf(9), at, at, CALLS, '{}', 'hash', body);
}

it('[OPS-1] [OPS-7] says that calls are still being counted, and then shows them by itself', async () => {
  await change(database => {
    database.exec(
      `CREATE TRIGGER not_yet BEFORE UPDATE ON usage_progress BEGIN SELECT RAISE(ABORT, 'not yet'); END`,
    );
    addChunk(database);
  });
  const view = await openConsole(browser, gateway.origin, admin, '/console/usage');
  const { page } = view;
  try {
    await page.waitForSelector('.notice >> text=Later calls are being counted');
    await page.waitForSelector('.empty >> text=Nothing was called in these days');
    await picture(page, 'console-usage-behind');
    expect(await view.violations()).toEqual([]);
    await change(database => database.exec('DROP TRIGGER not_yet'));
    await page.waitForSelector('tbody tr:has-text("notes.echo") td:text-is("3")');
    await page.waitForSelector('.hint >> text=Calls are counted about a minute');
    expect(await page.locator('.notice').count()).toBe(0);
    expect(view.problems).toEqual([]);
  } finally {
    await view.close();
  }
});
