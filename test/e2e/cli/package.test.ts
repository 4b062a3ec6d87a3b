/** The package of the command line as a user gets it: packed, installed into an empty folder without a network, and run. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OLDEST_NODE } from '../../../cli/src/oldest-node.ts';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico, type Ran } from '../support/portico-command.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DEPENDENCIES = ['commander', 'picocolors'];

let gateway: Gateway;
let upstream: Upstream;
let folder: string;
let installed: string;

/** Runs npm with its own home folder and without a network. */
async function npm(cwd: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: folder, npm_config_update_notifier: 'false' };
  const offline = ['--offline', '--no-audit', '--no-fund', '--loglevel', 'error'];
  const { stdout } = await promisify(execFile)('npm', [...args, ...offline], { cwd, env });
  return stdout.trim();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-package-'));
  [gateway, upstream] = await Promise.all([startGateway(), startFixture('rich-modern')]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
  await npm(join(ROOT, 'cli'), 'pack', '--pack-destination', folder);
  for (const name of DEPENDENCIES) {
    const from = join(ROOT, 'node_modules', name);
    await npm(from, 'pack', '--ignore-scripts', '--pack-destination', folder);
  }
  const archives = (await readdir(folder)).filter(file => file.endsWith('.tgz'));
  installed = join(folder, 'somewhere');
  await mkdir(installed);
  await writeFile(join(installed, 'package.json'), '{"private": true}');
  await npm(installed, 'install', ...archives.map(file => join(folder, file)));
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await rm(folder, { recursive: true, force: true });
});

const portico = (...args: string[]): Promise<Ran> =>
  runPortico(args, {
    main: join(installed, 'node_modules', '.bin', 'portico'),
    cwd: installed,
    env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken },
  });

describe('the package', () => {
  it('[CLI-4] contains the command and its licences, and nothing else', async () => {
    const folders = { recursive: true, withFileTypes: true } as const;
    const found = await readdir(join(installed, 'node_modules', 'portico-cli'), folders);
    const files = found
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).split('/portico-cli/').at(-1) ?? '');
    const isCode = (file: string) => /^dist\/([\w-]+\.mjs|gateway\/.+)$/.test(file);
    expect(files).toContain('dist/portico.mjs');
    expect(files.filter(file => !isCode(file)).toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'dist/THIRD-PARTY.txt',
      'package.json',
    ]);
    const licences = join(installed, 'node_modules', 'portico-cli', 'dist', 'THIRD-PARTY.txt');
    const names = [...(await readFile(licences, 'utf8')).matchAll(/^([@\w/-]+) \d+\.\d+\.\d+$/gm)];
    const told = names.map(([, name]) => name);
    expect(told).toEqual(expect.arrayContaining(['hono', 'oauth4webapi', 'zod']));
    // A module may be present in two versions, each with its own licence.
    expect(new Set(names.map(([line]) => line)).size).toBe(told.length);
    const modules = await readdir(join(installed, 'node_modules'));
    const packages = modules.filter(name => !name.startsWith('.'));
    expect(packages.toSorted()).toEqual([...DEPENDENCIES, 'portico-cli'].toSorted());
  });

  it('[CLI-4] runs', async () => {
    const { code, out } = await portico('--help');
    expect(code).toBe(0);
    expect(out).toMatch(/^Usage: portico /);
    const text = await readFile(join(ROOT, 'cli', 'package.json'), 'utf8');
    const { version } = JSON.parse(text) as { version: string };
    expect((await portico('--version')).out).toBe(`${version}\n`);
  });

  it('[CLI-4] refuses a Node that is too old before it does anything', async () => {
    const pretend = 'Object.defineProperty(process.versions, "node", {value: "20.19.4"})';
    const { code, out, err } = await runPortico(['connect', '--enroll', 'old-machine'], {
      main: join(installed, 'node_modules', '.bin', 'portico'),
      cwd: installed,
      env: {
        HOME: folder,
        PORTICO_URL: gateway.origin,
        PORTICO_TOKEN: gateway.adminToken,
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(pretend)}`,
      },
    });
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: 'portico: needs Node.js 22.13 or newer, and this is 20.19.4; get a newer one from https://nodejs.org\n',
    });
    const { json } = await gateway.api('GET', '/api/v1/connectors');
    expect(json['connectors']).toEqual([]);
    const text = await readFile(join(ROOT, 'cli', 'package.json'), 'utf8');
    expect(text).toContain(`"node": ">=${OLDEST_NODE.join('.')}"`);
  });

  it('[CLI-4] calls a gateway', async () => {
    const tools = await portico('tools');
    expect(tools).toMatchObject({ code: 0, err: '' });
    expect(tools.out).toMatch(/^rich\.echo +Answers with its message$/m);
    const call = await portico('call', 'rich.echo', '--message', 'from the package');
    expect(call).toMatchObject({ code: 0, out: 'Echo: from the package\n' });
  });

  it('[OPS-6] reads and writes configuration files', async () => {
    const exported = await portico('export');
    expect(exported).toMatchObject({ code: 0, err: '' });
    expect(exported.out).toMatch(/^servers:\n {2}rich:\n/m);
    const file = join(installed, 'portico.yaml');
    await writeFile(file, exported.out);
    const diff = await portico('diff', '-f', file, '--adopt');
    expect(diff).toMatchObject({ code: 1 });
    expect(diff.out).toContain('= server rich (taken over unchanged)');
  });

  it('[CLI-2] is a server for a host', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const { code, out } = await runPortico(['stdio'], {
      main: join(installed, 'node_modules', '.bin', 'portico'),
      env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken },
      input: `${JSON.stringify(message)}\n`,
    });
    expect({ code, out }).toEqual({ code: 0, out: '{"jsonrpc":"2.0","id":1,"result":{}}\n' });
  });
});
