/** Commands written by others sign in by themselves: they register, print the address to open, and listen for the answer on loopback. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stream } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../fixtures/start-fixture.ts';
import { askedAddress } from '../support/asked-address.ts';
import { COMPILE_CACHE } from '../support/portico-command.ts';
import { endAccessToken, startSignInGateway, type SignInGateway } from '../support/signing-in.ts';

const MODULES = new URL('../../../node_modules/', import.meta.url);
const inModules = (path: string) => fileURLToPath(new URL(path, MODULES));
const MCP_REMOTE = inModules('mcp-remote/dist/proxy.js');
const INSPECTOR = inModules('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
/** No browser is needed: the program that would open one is not found. */
const ENV = { PATH: '/nonexistent', BROWSER: 'none', ...COMPILE_CACHE };
let stand: SignInGateway;
let home: string;

beforeAll(async () => {
  [stand, home] = await Promise.all([
    startSignInGateway(),
    mkdtemp(join(tmpdir(), 'portico-sign-in-')),
  ]);
});
afterAll(async () => {
  await stand?.stop();
  await rm(home, { recursive: true, force: true });
});

/** Opens the address that a command prints, as a person, and brings it the answer. */
async function signIn(stream: Stream): Promise<void> {
  const address = await askedAddress(stream, stand.gateway.origin);
  const answer = await fetch(await stand.person.allow(address));
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

describe('mcp-remote', () => {
  const configDir = () => join(home, 'mcp-remote');

  /** Reads a file that it stores. */
  async function kept(name: string): Promise<Record<string, string>> {
    const files = await readdir(configDir(), { recursive: true });
    const file = files.find(path => path.endsWith(name)) ?? name;
    return JSON.parse(await readFile(join(configDir(), file), 'utf8')) as Record<string, string>;
  }

  it('[ACC-5] [ACC-7] registers, signs in, calls and refreshes', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [MCP_REMOTE, `${stand.gateway.origin}/mcp`, String(await findFreePort())],
      env: { ...ENV, HOME: home, MCP_REMOTE_CONFIG_DIR: configDir() },
      stderr: 'pipe',
    });
    const client = new Client({ name: 'portico-e2e', version: '1.0.0' });
    const { stderr } = transport;
    if (!stderr) throw new Error('It has no stderr');
    const [connected] = await Promise.all([
      client.connect(transport).then(() => true),
      signIn(stderr),
    ]);
    expect(connected).toBe(true);
    const echo = async (message: string) =>
      (await client.callTool({ name: 'rich.echo', arguments: { message } })).content;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('rich.echo');
    expect(await echo('in')).toEqual([{ type: 'text', text: 'Echo: in' }]);
    const { access_token: used = '' } = await kept('tokens.json');
    const { client_id: id = '' } = await kept('client_info.json');
    await endAccessToken(stand.gateway, id, used);
    expect(await echo('again')).toEqual([{ type: 'text', text: 'Echo: again' }]);
    expect((await kept('tokens.json'))['access_token']).not.toBe(used);
    await client.close();
  });
});

describe('the Inspector', () => {
  it('[ACC-5] [ACC-7] signs in with a metadata document and calls', async () => {
    const callback = `http://127.0.0.1:${await findFreePort()}/callback`;
    const call = async () => {
      const url = ['--server-url', `${stand.gateway.origin}/mcp`, '--transport', 'http'];
      const who = ['--client-metadata-url', stand.document.id, '--callback-url', callback];
      const what = ['--method', 'tools/call', '--tool-name', 'rich.echo'];
      const shape = ['--tool-args-json', '{"message":"in"}', '--format', 'json'];
      const child = spawn(
        process.execPath,
        [INSPECTOR, '--cli', ...url, ...who, ...what, ...shape, '--connect-timeout', '0'],
        {
          env: { ...ENV, HOME: home, MCP_AUTO_OPEN_ENABLED: 'true' },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      await Promise.all([once(child, 'exit'), signIn(child.stderr)]);
      return output;
    };
    expect(await call()).toContain('Echo: in');
  });
});
