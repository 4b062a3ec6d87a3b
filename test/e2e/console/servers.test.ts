/** The view of servers in a real browser against a real gateway: added, found broken, fixed, edited, imported and deleted. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort, startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { startBrowser } from '../support/browser.ts';
import { holdRequest, openConsole } from '../support/console-page.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';

const SERVERS = '/api/v1/aggregator/servers';
/** The browser logs the requests that the gateway refuses on purpose here: a bad field, and an edit of a record that changed meanwhile. */
const REFUSED = /^Failed to load resource: .* status of 4[12]2 /;
const HOSTILE = '<img src=x onerror="document.title=1"> \u202Egnp.exe';

let gateway: Gateway;
let browser: Browser;
let notes: Upstream;
let admin = '';
let notesId = '';

beforeAll(async () => {
  [gateway, browser, notes] = await Promise.all([
    startGateway({ env: QUIET }),
    startBrowser(),
    startFixture('rich-modern'),
  ]);
  const server = await gateway.register('notes', `${notes.origin}/mcp`, { description: HOSTILE });
  notesId = server.id;
  const scopes = ['admin', 'tools:read', 'tools:call'];
  admin = (await gateway.createToken({ name: 'Ada', scopes })).token;
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** Opens a view, runs a test in it, and checks at the end that the page had no problems. */
async function inConsole(
  path: string,
  act: (page: Page, look: (name: string) => Promise<void>) => Promise<void>,
  token = admin,
): Promise<void> {
  const view = await openConsole(browser, gateway.origin, token, `/console${path}`);
  try {
    await act(view.page, async name => {
      await picture(view.page, `console-servers-${name}`);
      expect(await view.violations()).toEqual([]);
    });
    expect(view.problems.filter(problem => !REFUSED.test(problem))).toEqual([]);
  } finally {
    await view.close();
  }
}

const idOf = async (name: string): Promise<string> => {
  const { json } = await gateway.api('GET', `${SERVERS}?name=${name}`);
  return (json['servers'] as { id: string }[])[0]?.id ?? '';
};

describe.each(['?add=one', '?add=file', '?server=ID'])('[OPS-1] /console/servers%s', search => {
  it.each([
    [360, 'dark'],
    [768, 'light'],
    [1440, 'light'],
  ] as const)('looks right at %i px, %s', async (width, theme) => {
    const path = `/console/servers${search.replace('ID', notesId)}`;
    const view = await openConsole(browser, gateway.origin, admin, path, { width, theme });
    try {
      await view.page.waitForSelector(search === '?server=ID' ? '.tools dt' : 'form.server-form');
      const name = search.replaceAll(/\W/g, '-');
      await picture(view.page, `console-servers${name}-${width}-${theme}`);
      expect(await view.violations()).toEqual([]);
      const overflow = 'document.documentElement.scrollWidth - innerWidth';
      expect(await view.page.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
      expect(view.problems).toEqual([]);
    } finally {
      await view.close();
    }
  });
});

it('[OPS-1] adds a server by mouse and shows the outcome', async () => {
  await inConsole('/servers', async page => {
    await page.click('text=Add a server');
    await page.fill('#server-name', 'second');
    await page.fill('#server-address', `${notes.origin}/mcp`);
    await page.click('button:text("Add it")');
    await page.waitForSelector('.outcome .badge.good');
    await page.waitForSelector('.tools dt');
    await page.waitForSelector('.plot rect, .empty:text("not checked")');
    await page.click('text=All servers');
    await page.fill('input[type=search]', 'SEC');
    await page.waitForSelector('text=1 of 1');
    expect(page.url()).toContain('name=SEC');
  });
});

it('[OPS-1] shows text that a server controls as text', async () => {
  await inConsole(`/servers?server=${notesId}`, async page => {
    await page.waitForSelector('.tools dt');
    expect(await page.textContent('.facts')).toContain('onerror="document.title=1"> ⟨U+202E⟩gnp');
    expect(await page.locator('main img').count()).toBe(0);
  });
});

it('[OPS-1] adds a broken server, fixes it and deletes it, with the keyboard', async () => {
  await inConsole('/servers', async (page, look) => {
    const keys = page.keyboard;
    const press = async (name: RegExp) => {
      await tabTo(page, name);
      await keys.press('Enter');
    };
    const type = async (name: RegExp, text: string) => {
      await tabTo(page, name);
      await keys.press('ControlOrMeta+a');
      await keys.type(text);
    };
    await press(/^Skip to the content$/);
    await press(/^Add a server$/);
    await page.waitForSelector('#server-name:focus');
    await type(/^Name$/, 'no good name');
    await type(/^Address$/, `http://127.0.0.1:${await findFreePort()}/mcp`);
    await press(/^Add it$/);
    // The error is shown at the field, and the input is kept.
    await page.waitForSelector('#server-name-wrong');
    await page.focus('h1');
    await type(/^Name$/, 'keys');
    await press(/^Add it$/);
    await page.waitForSelector('.outcome .badge.bad');
    expect(await page.textContent('.outcome')).toContain('Check that it runs');
    await page.waitForSelector('.plot .bad');
    await look('broken');
    await press(/^Edit$/);
    await page.waitForSelector('#server-name:focus');
    await type(/^Address$/, `${notes.origin}/mcp`);
    await press(/^Save$/);
    await page.waitForSelector('.outcome .badge.good');
    // An event may report the server before the form knows that it was saved.
    await page.waitForSelector('form.server-form', { state: 'detached' });
    await press(/^Delete$/);
    expect(await page.textContent('dialog[open]')).toContain('cannot be brought back');
    await keys.press('Enter');
    await page.waitForSelector('.notice:focus >> text=keys is deleted');
    expect(await idOf('keys')).toBe('');
  });
});

it('[OPS-1] reports an edit elsewhere, and keeps the input', async () => {
  await inConsole(`/servers?server=${notesId}`, async (page, look) => {
    await page.click('button:text("Edit")');
    await page.selectOption('#server-approval-of-its-tools', 'hold');
    const other = { description: 'Of another' };
    await gateway.api('PATCH', `${SERVERS}/${notesId}`, other);
    await page.click('button:text("Save")');
    expect(await page.textContent('[role=alert]')).toContain('meanwhile (description)');
    expect(await page.inputValue('#server-approval-of-its-tools')).toBe('hold');
    expect(await page.inputValue('#server-description')).toBe('Of another');
    await look('conflict');
    await page.click('button:text("Save over it")');
    await page.waitForSelector('form.server-form', { state: 'detached' });
    const { json } = await gateway.api('GET', `${SERVERS}/${notesId}`);
    expect(json).toMatchObject({ ...other, tool_approval: 'hold' });
  });
});

it('[OPS-1] [REG-6] accepts a file dropped anywhere on the page', async () => {
  await inConsole('/servers?add=file', async page => {
    await page.waitForSelector('#import-text');
    const drop = `const data = new DataTransfer();
      data.items.add(new File(['{"mcpServers":{}}'], 'mcp.json'));
      const event = { dataTransfer: data, bubbles: true, cancelable: true };
      document.querySelector('nav').dispatchEvent(new DragEvent('drop', event));`;
    // False: the browser does not open the file.
    expect(await page.evaluate<boolean>(drop)).toBe(false);
    await page.waitForFunction("document.querySelector('#import-text').value.includes('{}')");
    await page.click('text=Show what would be done');
    await page.waitForSelector('text=There is no server in it');
  });
});

it('[OPS-1] shows in the overview what waits for a decision', async () => {
  const more = { transport_type: 'HTTP', tool_approval: 'hold' };
  const lost = { url: `http://127.0.0.1:${await findFreePort()}/mcp` };
  const all = [
    { name: 'held', connection_config: { url: `${notes.origin}/mcp` } },
    { name: 'lost', connection_config: lost },
  ];
  for (const each of all) await gateway.api('POST', SERVERS, { ...more, ...each });
  await inConsole('', async page => {
    await page.waitForSelector('.waiting :text("wait for an approval")');
    await page.waitForSelector('.tiles :text("1 error")');
    await page.click('.waiting a:text("lost")');
    expect(await page.textContent('.outcome')).toContain('cannot be reached');
  });
  for (const { name } of all) await gateway.api('DELETE', `${SERVERS}/${await idOf(name)}`);
});

it('[OPS-1] disconnects a server and connects it again', async () => {
  await inConsole(`/servers?server=${notesId}`, async page => {
    await page.click('.actions button:text("Disconnect")');
    await page.click('dialog[open] button:text("Disconnect")');
    await page.waitForSelector('main:has(.badge:text-is("disconnected")) :text("Edit"):focus');
    expect(await page.textContent('.outcome')).toContain('not offered to anybody');
    await page.click('button:text("Connect")');
    await page.waitForSelector('main:has(.outcome .badge.good) :text("Edit"):focus');
  });
});

it('[OPS-1] [REG-6] previews an import before it is done', async () => {
  const file = `{
    // as a client has it
    "mcpServers": {
      "from-file": {
        "url": "${notes.origin}/mcp",
        "headers": { "Authorization": "Bearer very-secret-token" },
      },
      "files": { "command": "npx", "args": ["files"] },
      "notes": { "url": "${notes.origin}/mcp" },
    },
  }`;
  await inConsole('/servers?add=file', async (page, look) => {
    await page.fill('#import-text', '{ "mcpServers": ');
    await page.click('text=Show what would be done');
    await page.waitForSelector('[role=alert]');
    await page.setInputFiles('#import-file', {
      name: 'mcp.json',
      mimeType: 'application/json',
      buffer: Buffer.from(file),
    });
    await page.waitForFunction("document.querySelector('#import-text').value.includes('npx')");
    await page.click('text=Show what would be done');
    const rows = page.locator('tbody tr');
    await rows.first().waitFor();
    expect(await rows.allTextContents()).toEqual([
      expect.stringMatching(/^from-fileis added.*Secrets are stored/),
      expect.stringContaining('cannot be added here'),
      expect.stringContaining('is left out'),
    ]);
    expect(await idOf('from-file')).toBe('');
    await look('plan');
    await page.click('button:text("Do it for 1 server")');
    await page.waitForSelector('text=was added');
    await page.click('th a:text("from-file")');
    await page.waitForSelector('.outcome .badge.good');
    expect(await page.textContent('main')).not.toContain('very-secret-token');
  });
});

it('[OPS-1] [REG-6] drops a plan that arrives after the text has changed', async () => {
  await inConsole('/servers?add=file', async page => {
    await page.fill('#import-text', '{"mcpServers":{}}');
    const go = await holdRequest(page, /\/import\?/, () => page.click('main [type=submit]'));
    await page.fill('#import-text', '{}');
    await go();
    await page.waitForSelector('main [type=submit]:enabled');
    expect(await page.locator('main section').count()).toBe(0);
  });
});

it('[OPS-1] [ACC-4] shows no more than the API returns', async () => {
  const reads = await gateway.createToken({ name: 'Reader', scopes: ['servers:read'] });
  await inConsole(
    `/servers?server=${notesId}`,
    async page => {
      await page.waitForSelector('.outcome');
      expect(await page.locator('button:text("Delete"), button:text("Edit")').count()).toBe(0);
    },
    reads.token,
  );
  const member = await gateway.createToken({ name: 'Member', scopes: ['tools:read'] });
  await inConsole(
    '',
    async page => {
      await page.waitForSelector('text=Nothing waits for you.');
      expect(await page.locator('nav a:text("Servers")').count()).toBe(0);
    },
    member.token,
  );
});

it('[OPS-1] loads a long list page by page, and searches all of it', async () => {
  const many = Array.from({ length: 100 }, (_, at) => {
    const server = { url: `${notes.origin}/mcp`, disabled: true };
    return [`many-${String(at).padStart(3, '0')}`, server] as const;
  });
  const file = { mcpServers: Object.fromEntries(many) };
  await gateway.api('POST', '/api/v1/aggregator/import', file);
  await inConsole('/servers', async page => {
    await page.waitForSelector('text=/^100 of 10/');
    await page.click('text=Load more');
    await page.waitForSelector('th a:text("notes")');
    await page.fill('input[type=search]', 'many-099');
    await page.waitForSelector('text=1 of 1');
    await page.click('nav a:text("Overview")');
    await page.click('.tiles a:has-text("100 disconnected")');
    await page.waitForSelector('text=100 of 100');
    expect(page.url()).toContain('status=DISCONNECTED');
  });
});
