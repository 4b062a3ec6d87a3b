/** Who may write the gateway into a host with `portico client`, whose token is written, and what the person is asked and told. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ClientHome, modeOf, tokenIn } from '../support/client-home.ts';
import { startTerminal } from '../support/terminal.ts';

const home = new ClientHome();

describe('a person at a terminal', () => {
  it.each([
    ['n', 1, 'https://x.example.com'],
    ['\u0003', 1, 'https://x.example.com'],
    ['y', 0, '/mcp?names=underscore'],
  ])('[CLI-4] is asked before a server is replaced, and answers %j', async (answer, code, url) => {
    await home.put('cursor', '{"mcpServers": {"portico": {"url": "https://x.example.com"}}}');
    const terminal = startTerminal(['client', 'add', 'cursor'], home.environment());
    await terminal.see('replace it? (y/N) ');
    terminal.type(answer);
    expect(await terminal.end()).toMatchObject({ code });
    expect(await home.read('cursor')).toContain(url);
    if (code === 0) await home.run(['remove', 'cursor']);
  });
});

describe('the caller', () => {
  it('[CLI-4] writes their own token if they may create none', async () => {
    const { token } = await home.gateway.createToken({ name: 'ada' });
    const asAda = { PORTICO_TOKEN: token };
    expect(await home.run(['add', 'cursor'], asAda)).toMatchObject({ code: 0 });
    expect(tokenIn(await home.read('cursor'))).toBe(token);
    const owned = await home.run(['add', 'zed', '--principal', 'x'], asAda);
    expect(owned).toMatchObject({ code: 3, out: '' });
    const removed = await home.run(['remove', 'cursor'], asAda);
    expect(removed.err).toMatch(/its token still works; an administrator can revoke it\n$/);
    await home.run(['add', 'cursor'], asAda);
    const byAdmin = await home.run(['remove', 'cursor', '--json']);
    expect(byAdmin.json()).toMatchObject({ outcome: 'removed', revoked: null });
    expect((await home.gateway.api('GET', '/api/v1/token', undefined, token)).status).toBe(200);
  });

  it('[SEC-2] cannot write a token into a host that may do more than call tools', async () => {
    const { token } = await home.gateway.createToken({
      name: 'operator',
      scopes: ['tools:read', 'servers:write'],
    });
    const ran = await home.run(['add', 'cursor'], { PORTICO_TOKEN: token });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/more than a client needs \(servers:write\)/);
    const entry = { url: `${home.gateway.origin}/mcp?names=underscore` };
    const headers = { Authorization: `Bearer ${home.gateway.adminToken}` };
    await home.put('cursor', JSON.stringify({ mcpServers: { portico: { ...entry, headers } } }));
    const { out } = await home.run(['list']);
    expect(out).toMatch(/^cursor +token may do more/m);
    expect(await home.run(['add', 'cursor'])).toMatchObject({ code: 2 });
    expect(await home.run(['add', 'cursor', '--replace'])).toMatchObject({ code: 0 });
    expect(await home.read('cursor')).not.toContain(home.gateway.adminToken);
    expect((await home.gateway.api('GET', '/api/v1/tokens')).status).toBe(200);
    await home.run(['remove', 'cursor']);
  });

  it('[CLI-4] sees in a dry run what would be done, and nothing is done', async () => {
    const ran = await home.run(['add', 'vscode', '--dry-run', '--json']);
    expect(ran.json()).toMatchObject({ client: 'vscode', outcome: 'planned' });
    await expect(home.read('vscode')).rejects.toThrow('ENOENT');
    expect(await home.made('vscode')).toEqual([]);
    await home.run(['add', 'vscode']);
    const text = await home.read('vscode');
    expect((await home.run(['remove', 'vscode', '--dry-run'])).err).toMatch(
      /^nothing is changed yet/,
    );
    expect([await home.read('vscode'), (await home.made('vscode')).length]).toEqual([text, 1]);
    await home.run(['remove', 'vscode']);
  });

  it('[CLI-4] removes the gateway from a host even if the gateway no longer exists', async () => {
    await home.run(['add', 'gemini']);
    const gone = (await home.read('gemini')).replace(home.gateway.origin, 'http://127.0.0.1:9');
    await writeFile(home.pathOf('gemini'), gone);
    expect((await home.run(['list'])).out).toMatch(/^gemini +no answer/m);
    const removed = await home.run(['remove', 'gemini', '--url', 'http://127.0.0.1:9']);
    expect(removed).toMatchObject({ code: 0 });
    expect(removed.err).toMatch(/its token may still work/);
    expect(await home.read('gemini')).toBe('{\n  "mcpServers": {}\n}\n');
  });

  it('[SEC-2] shows their token to no other gateway', async () => {
    const seen: string[] = [];
    const other = createServer(({ headers }, response) => {
      seen.push(headers.authorization ?? 'nothing');
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"id": "x", "principal": "x", "scopes": ["tools:read"]}');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const headers = { Authorization: 'Bearer theirs' };
    const entry = { url: `http://127.0.0.1:${port}/mcp`, headers };
    try {
      await home.put('cursor', JSON.stringify({ mcpServers: { portico: entry } }));
      expect((await home.run(['list'])).out).toMatch(/^cursor +works/m);
      expect(await home.run(['add', 'cursor'])).toMatchObject({ code: 2 });
      const removed = await home.run(['remove', 'cursor']);
      expect(removed.err).toContain(`its token is for http://127.0.0.1:${port}; revoke it there`);
      expect(seen).toEqual(['Bearer theirs']);
    } finally {
      other.close();
    }
  });

  it.each([
    [['add', 'emacs'], 2, /Allowed choices are claude-code, /],
    [['add', 'zed', '--scope', 'project'], 2, /--scope project is only for claude-code/],
    [['add', 'zed', '--name', 'a b'], 2, /--name must be/],
    [['add', 'zed', '--url', 'http://127.0.0.1:9'], 1, /cannot be reached/],
    [['add', 'zed', '--url', 'http://mcp.example.com'], 2, /unencrypted/],
    [['add', 'zed', '--token', 'nobody'], 3, /does not know the token/],
  ])('[CLI-4] is told what is wrong: %j', async (args, code, why) => {
    const ran = await home.run(args);
    expect(ran).toMatchObject({ code, out: '' });
    expect(ran.err).toMatch(why);
    await expect(home.read('zed')).rejects.toThrow('ENOENT');
  });
});

it('[SEC-2] the file of a project names a variable instead of a token', async () => {
  const ran = await home.run(['add', 'claude-code', '--scope', 'project', '--name', 'team'], {
    PORTICO_TOKEN: '',
  });
  expect(ran).toMatchObject({ code: 0 });
  const file = join(home.folder, '.mcp.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    mcpServers: {
      team: {
        type: 'http',
        url: `${home.gateway.origin}/mcp?names=underscore`,
        headers: { Authorization: 'Bearer ${PORTICO_CLIENT_TOKEN}' },
      },
    },
  });
  expect(await modeOf(file)).toBe(0o644);
  const removed = await home.run(['remove', 'claude-code', '--scope', 'project', '--name', 'team']);
  expect(removed.err).toMatch(/it held no token\n$/);
});
