/** The MCP Inspector's command line against the gateway, with the public demo server behind it. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverything } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { COMPILE_CACHE } from '../support/portico-command.ts';

const inspector = fileURLToPath(
  new URL(
    '../../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    import.meta.url,
  ),
);
let everything: Upstream;
let gateway: Gateway;
let home: string;

beforeAll(async () => {
  [everything, gateway] = await Promise.all([startEverything('streamableHttp'), startGateway()]);
  home = await mkdtemp(join(tmpdir(), 'portico-inspector-'));
  await gateway.register('everything', `${everything.origin}/mcp`);
});

afterAll(async () => {
  await gateway?.stop();
  await everything?.stop();
  await rm(home, { recursive: true, force: true });
});

async function inspect(era: string, path: string, ...args: string[]): Promise<unknown> {
  const url = ['--server-url', `${gateway.origin}${path}`, '--transport', 'http'];
  const header = ['--header', `Authorization: Bearer ${gateway.adminToken}`];
  // On a busy machine a connection may take longer than the Inspector waits by default.
  const shape = ['--protocol-era', era, '--format', 'json', '--quiet', '--connect-timeout', '0'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [inspector, '--cli', ...url, ...header, ...shape, ...args],
    { env: { PATH: process.env['PATH'], HOME: home, ...COMPILE_CACHE }, timeout: 120_000 },
  );
  return (JSON.parse(stdout) as { result: unknown }).result;
}

const call = (era: string, path: string, name: string, given: object) =>
  inspect(
    era,
    path,
    '--method',
    'tools/call',
    '--tool-name',
    name,
    '--tool-args-json',
    JSON.stringify(given),
  );

describe.each(['legacy', 'auto', 'modern'])('the Inspector in the %s era', era => {
  it.each([
    ['/mcp', 'everything.'],
    ['/mcp/servers/everything', ''],
  ])('[MCP-1] [MCP-3] [MCP-8] [AG-US4-AC1] lists and calls through %s', async (path, prefix) => {
    const [list, echo, sum] = await Promise.all([
      inspect(era, path, '--method', 'tools/list'),
      call(era, path, `${prefix}echo`, { message: 'hello' }),
      call(era, path, `${prefix}get-sum`, { a: 2, b: 40 }),
    ]);
    const names = (list as { tools: { name: string }[] }).tools.map(tool => tool.name);
    expect(names).toContain(`${prefix}echo`);
    expect(names).toContain(`${prefix}get-sum`);
    expect(names.every(name => name.startsWith(prefix))).toBe(true);
    expect(echo).toMatchObject({ content: [{ type: 'text', text: 'Echo: hello' }] });
    expect(sum).toMatchObject({ content: [{ type: 'text', text: 'The sum of 2 and 40 is 42.' }] });
  });
});
