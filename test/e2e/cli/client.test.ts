/** What `portico client` writes for every host, in its own home folder: a real client reads it back, and the command removes it again. */
import { lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it } from 'vitest';
import { ClientHome, HOST_IDS, modeOf, tokenIn, type HostId } from '../support/client-home.ts';
import { COMPILE_CACHE } from '../support/portico-command.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const home = new ClientHome();

/** Interprets the file as the host does. */
function transportOf(id: HostId, text: string): Transport {
  const http = (url: string, headers: Record<string, string>) =>
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Transport;
  if (id === 'codex') {
    const [, url = ''] = /^url = "(.*)"$/m.exec(text) ?? [];
    const [, Authorization = ''] =
      /^http_headers = \{ Authorization = "(.*)" \}$/m.exec(text) ?? [];
    return http(url, { Authorization });
  }
  const file = JSON.parse(text) as Record<string, Record<string, Record<string, unknown>>>;
  const key = { vscode: 'servers', zed: 'context_servers' }[id as string] ?? 'mcpServers';
  const entry = file[key]?.['portico'] ?? {};
  if (id !== 'claude-desktop') {
    const url = entry['url'] ?? entry['httpUrl'] ?? entry['serverUrl'];
    return http(String(url), entry['headers'] as Record<string, string>);
  }
  const { command, args, env } = entry as { command: string; args: string[]; env: object };
  const path = process.env['PATH'] ?? '';
  return new StdioClientTransport({
    command,
    args,
    // Runs from the package of this project, so that nothing is downloaded.
    cwd: ROOT,
    env: {
      PATH: path,
      HOME: home.folder,
      npm_config_offline: 'true',
      ...COMPILE_CACHE,
      ...env,
    },
    stderr: 'ignore',
  });
}

describe.each(HOST_IDS)('%s', id => {
  it('[CLI-4] gets the gateway with its own token, and loses both', async () => {
    const added = await home.run(['add', id]);
    expect(added).toMatchObject({ code: 0 });
    expect(added.out).toContain('+ ');
    const text = await home.read(id);
    const token = tokenIn(text);
    expect(token).not.toBe(home.gateway.adminToken);
    expect(await modeOf(home.pathOf(id))).toBe(0o600);
    expect(await home.made(id)).toMatchObject([{ scopes: ['tools:read', 'tools:call'] }]);

    const host = new Client({ name: id, version: '1.0.0' });
    await host.connect(transportOf(id, text));
    const { tools } = await host.listTools();
    expect(tools.map(({ name }) => name)).toContain('rich__echo');
    await host.close();

    const list = (await home.run(['list', '--json'])).json<{ client: string; state: string }[]>();
    const states = Object.fromEntries(list.map(each => [each.client, each.state]));
    expect(states).toEqual({
      ...Object.fromEntries(HOST_IDS.map(other => [other, 'not found'])),
      [id]: 'works',
    });
    const again = await home.run(['add', id]);
    expect(again).toMatchObject({ code: 0, out: '' });
    expect(again.err).toContain('is already set up');
    expect(await home.read(id)).toBe(text);

    const removed = await home.run(['remove', id]);
    expect(removed).toMatchObject({ code: 0 });
    expect(removed.err).toMatch(/no longer has 'portico'; its token '.*' is revoked\n$/);
    expect(await home.read(id)).not.toContain('portico');
    expect(await readFile(`${home.pathOf(id)}.before-portico`, 'utf8')).toBe(text);
    expect(await home.made(id)).toEqual([]);
    await home.isRefused(token);
    expect(await home.run(['remove', id])).toMatchObject({ code: 4, out: '' });
  });
});

describe('an existing file', () => {
  const SETTINGS = '\uFEFF{\r\n\t// mine\r\n\t"theme": "dark", // at night\r\n}\r\n';

  it('[CLI-4] keeps its comments, permissions and symbolic link, and gets a backup', async () => {
    const real = join(home.folder, 'dotfiles.json');
    await writeFile(real, SETTINGS, { mode: 0o640 });
    await mkdir(dirname(home.pathOf('zed')), { recursive: true });
    await symlink(real, home.pathOf('zed'));
    const { code, out, err } = await home.run(['add', 'zed']);
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining(real) });
    expect(out).not.toContain('theme');
    expect((await lstat(home.pathOf('zed'))).isSymbolicLink()).toBe(true);
    const text = await readFile(real, 'utf8');
    expect(text.startsWith(SETTINGS.slice(0, SETTINGS.indexOf('\r\n}')))).toBe(true);
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect([await modeOf(real), await modeOf(`${real}.before-portico`)]).toEqual([0o640, 0o640]);
    expect(await readFile(`${real}.before-portico`, 'utf8')).toBe(SETTINGS);
  });

  it('[CLI-4] is left unchanged if it cannot be edited, and no token is created', async () => {
    await home.put('cursor', '{"mcpServers": {');
    const ran = await home.run(['add', 'cursor']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toBe(
      `portico: ${home.pathOf('cursor')} is not valid JSON; nothing was changed\n`,
    );
    await writeFile(home.pathOf('cursor'), Buffer.from([0xff, 0xfe, 0x7b, 0x00]));
    expect((await home.run(['add', 'cursor'])).err).toMatch(/is not UTF-8 text/);
    await rm(home.pathOf('cursor'));
    await symlink(join(home.folder, 'nowhere'), home.pathOf('cursor'));
    expect((await home.run(['add', 'cursor'])).err).toMatch(/is a broken link/);
    const { out, err } = await home.run(['list']);
    expect(out).toMatch(/^cursor +not set up/m);
    expect(err).toBe('');
    expect(await home.made('cursor')).toEqual([]);
  });

  it('[CLI-4] has its new token revoked if it cannot be written', async () => {
    await home.put('cursor', '{}');
    await mkdir(`${home.pathOf('cursor')}.before-portico`);
    const ran = await home.run(['add', 'cursor']);
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toMatch(/cannot be written \(\w+\); nothing was changed\n$/);
    expect(await home.read('cursor')).toBe('{}');
    expect(await home.made('cursor')).toEqual([]);
  });

  it('[CLI-4] has another server of the same name replaced only on request', async () => {
    await home.put('codex', '[mcp_servers.portico]\nurl = "https://x.example.com"\n');
    const before = await home.read('codex');
    const refused = await home.run(['add', 'codex']);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.out).toContain('- url = "https://x.example.com"\n+ url = "');
    expect(refused.err).toMatch(/^portico: .*; add --replace to replace it\n$/);
    expect([await home.read('codex'), await home.made('codex')]).toEqual([before, []]);
    const replaced = await home.run(['add', 'codex', '--replace', '--json']);
    expect(replaced.json()).toMatchObject({
      outcome: 'replaced',
      token: { id: expect.any(String) },
    });

    const first = tokenIn(await home.read('codex'));
    const [former] = await home.made('codex');
    const other = ['--url', `${home.gateway.origin}/mcp/servers/rich`];
    expect(await home.run(['add', 'codex', ...other, '--replace'])).toMatchObject({ code: 0 });
    expect(await home.read('codex')).toContain('/mcp/servers/rich?names=underscore"');
    expect(await home.made('codex')).toMatchObject([{ principal: former?.principal }]);
    await home.isRefused(first);
    await home.run(['remove', 'codex']);
  });

  it('[CLI-4] [ACC-2] has its token replaced by one of a named principal', async () => {
    const { json: bob } = await home.gateway.api('POST', '/api/v1/principals', { name: 'Bob' });
    expect(await home.run(['add', 'gemini'])).toMatchObject({ code: 0 });
    const first = tokenIn(await home.read('gemini'));
    const forBob = ['add', 'gemini', '--principal', 'Bob'];
    expect((await home.run(forBob)).err).toContain('add --replace to replace it');
    expect(await home.run([...forBob, '--replace'])).toMatchObject({ code: 0 });
    expect(await home.made('gemini')).toMatchObject([{ principal: bob['id'] }]);
    await home.isRefused(first);
    expect((await home.run(forBob)).err).toContain('is already set up');
    await home.run(['remove', 'gemini']);
  });
});
