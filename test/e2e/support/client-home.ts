/**
 * A person's home folder in which `portico client` writes the files of hosts, and a gateway for it. Owns both: the home is new for each
 * test.
 */
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from './gateway.ts';
import { runPortico, type Ran, type RunOptions } from './portico-command.ts';

/** Where each host stores its file. */
const FILES = {
  'claude-code': '.claude.json',
  'claude-desktop': '.config/Claude/claude_desktop_config.json',
  cursor: '.cursor/mcp.json',
  vscode: '.config/Code/User/mcp.json',
  codex: '.codex/config.toml',
  gemini: '.gemini/settings.json',
  windsurf: '.codeium/windsurf/mcp_config.json',
  zed: '.config/zed/settings.json',
} as const;
export type HostId = keyof typeof FILES;
export const HOST_IDS = Object.keys(FILES) as HostId[];

const VALUE = /portico_[A-Za-z0-9_-]{43}/;

interface MadeToken {
  id: string;
  name: string;
  principal: string;
  scopes: string[];
}

/** Returns the value of the token in a text. */
export const tokenIn = (text: string): string => VALUE.exec(text)?.[0] ?? '';
export const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

/** Set-up of one test file; the gateway has the server `rich`. */
export class ClientHome {
  gateway!: Gateway;
  folder = '';
  #upstream!: Upstream;

  constructor() {
    beforeAll(async () => {
      [this.gateway, this.#upstream] = await Promise.all([
        startGateway(),
        startFixture('rich-modern'),
      ]);
      await this.gateway.register('rich', `${this.#upstream.origin}/mcp`);
    });
    beforeEach(async () => {
      this.folder = await mkdtemp(join(tmpdir(), 'portico-home-'));
      return () => rm(this.folder, { recursive: true, force: true });
    });
    afterAll(async () => {
      await this.gateway?.stop();
      await this.#upstream?.stop();
    });
  }

  /** The admin's environment. */
  environment() {
    const { origin, adminToken } = this.gateway;
    return { HOME: this.folder, PORTICO_URL: origin, PORTICO_TOKEN: adminToken };
  }

  /** Runs `portico client` as the admin and checks that its output contains no token. */
  async run(args: string[], env: RunOptions['env'] = {}): Promise<Ran> {
    const whole = { ...this.environment(), ...env };
    const ran = await runPortico(['client', ...args], { cwd: this.folder, env: whole });
    if (VALUE.test(ran.out + ran.err)) throw new Error(`a token is shown: ${ran.out}${ran.err}`);
    return ran;
  }

  pathOf(id: HostId): string {
    return join(this.folder, FILES[id]);
  }

  read(id: HostId): Promise<string> {
    return readFile(this.pathOf(id), 'utf8');
  }

  async put(id: HostId, content: string): Promise<void> {
    await mkdir(dirname(this.pathOf(id)), { recursive: true });
    await writeFile(this.pathOf(id), content);
  }

  /** Returns the tokens that were created for a host of this machine. */
  async made(id: HostId): Promise<MadeToken[]> {
    const name = `${id}@${hostname().split('.')[0]}`;
    const { json } = await this.gateway.api('GET', '/api/v1/tokens?limit=500');
    return (json['tokens'] as MadeToken[]).filter(token => token.name === name);
  }

  isRefused(token: string): Promise<unknown> {
    return until('the token is refused', 60_000, async () => {
      const { status } = await this.gateway.api('GET', '/api/v1/token', undefined, token);
      return status === 401 ? true : undefined;
    });
  }
}
