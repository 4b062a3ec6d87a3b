/** A start shows an address that signs a person in to the console, but only on a terminal. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import { createCookieBrowser } from '../support/cookie-browser.ts';
import { endGateway, spawnStart, withoutSettings } from '../support/gateway.ts';
import { MAIN } from '../support/portico-command.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CTRL_C = '\x03';
let data = '';
let port = 0;
let origin = '';

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-link-'));
  port = await findFreePort();
  origin = `http://127.0.0.1:${port}`;
});

afterEach(async () => rm(data, { recursive: true, force: true }));

const args = () => ['--port', String(port), '--data', data, '--no-demo'];

/** Starts a command on its own terminal, which `script` creates. */
function startOnTerminal(...words: string[]): {
  child: ChildProcess;
  output(): string;
  end(): Promise<void>;
} {
  const child = spawn('script', ['-qefc', words.join(' '), '/dev/null'], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: withoutSettings(process.env),
  });
  let text = '';
  child.stdout.on('data', chunk => (text += String(chunk)));
  return {
    child,
    output: () => text,
    async end() {
      if (child.exitCode !== null) return;
      const exit = once(child, 'exit');
      child.stdin.write(CTRL_C);
      await exit;
    },
  };
}

const codeIn = (text: string) =>
  new RegExp(`${origin}/sign-in\\?return=/console#([\\w-]{43})`, 'u').exec(text)?.[1];

it('[OPS-1] [OPS-3] [ACC-7] a start on a terminal shows an address that signs in to the console, once', async () => {
  const first = startOnTerminal('node', 'local/start.mjs', ...args());
  try {
    const code = await until('the address', 60_000, async () => codeIn(first.output()));
    expect(first.output()).toContain('The address signs you in once, within an hour.');

    const browser = createCookieBrowser();
    const page = await browser.open(`${origin}/sign-in`, { code, return: '/console' });
    expect(page.text).toContain('This browser is signed in as <strong>administrator</strong>');
    const cookie = [...(browser.cookies.get('127.0.0.1') ?? [])]
      .map(pair => pair.join('='))
      .join('; ');
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const me = await fetch(`${origin}/api/v1/token`, { headers });
    expect(await me.json()).toMatchObject({
      name: 'administrator',
      scopes: ['admin'],
      limited: false,
    });

    const again = await createCookieBrowser().open(`${origin}/sign-in`, { code, return: '' });
    expect([again.status, again.text.includes('You cannot sign in with this')]).toEqual([
      403,
      true,
    ]);
    await first.end();

    const second = startOnTerminal('node', 'local/start.mjs', ...args());
    try {
      const other = await until('the next address', 60_000, async () => codeIn(second.output()));
      expect(other).not.toBe(code);
      const answer = await fetch(`${origin}/api/v1/principals`, { headers });
      const { principals } = (await answer.json()) as { principals: { name: string }[] };
      expect(principals.filter(({ name }) => name === 'administrator')).toHaveLength(1);
    } finally {
      await second.end();
    }
  } finally {
    await first.end();
  }
});

it('[OPS-3] a start whose output goes elsewhere shows none', async () => {
  const { child, output } = spawnStart(args());
  try {
    await until(
      'the start is over',
      60_000,
      async () => output().includes('Ctrl-C stops') || undefined,
    );
    expect(output()).toContain(`Its console       ${origin}/console\n`);
    expect(output()).not.toContain('/sign-in');
  } finally {
    await endGateway(child);
  }
});

it('[CLI-3] [OPS-1] `portico up` shows one too', async () => {
  const file = join(data, 'mcp.json');
  await writeFile(file, '{"mcpServers": {}}');
  const words = [MAIN, 'up', '--config', file, '--data', data, '--port', String(port)];
  const up = startOnTerminal(process.execPath, ...words);
  try {
    const code = await until('the address', 60_000, async () => codeIn(up.output()));
    const page = await createCookieBrowser().open(`${origin}/sign-in`, { code, return: '' });
    expect(page.text).toContain('This browser is signed in as <strong>administrator</strong>');
  } finally {
    await up.end();
  }
});
