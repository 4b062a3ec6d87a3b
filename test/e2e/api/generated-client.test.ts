/** A client that a stock generator creates from `/openapi.json` type-checks and drives the whole life of a server, and access to it. */
import { execFileSync } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture } from '../../fixtures/start-fixture.ts';
import type { Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const GENERATOR = join(ROOT, 'node_modules/@hey-api/openapi-ts/bin/run.js');
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const DRIVER = join(ROOT, 'test/fixtures/generated-client/drive.ts');

let upstream: Upstream;
let gateway: Gateway;
let folder: string;

/** The driver, built with the generated client. */
interface Driver {
  drive(origin: string, token: string, url: string): Promise<Record<string, unknown>>;
  driveAccess(origin: string, token: string, url: string): Promise<Record<string, unknown>>;
}
let driver: Driver;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-client-'));
  [upstream, gateway] = await Promise.all([
    startFixture('rich-legacy'),
    startGateway({ env: { PORTICO_DISCOVERY_INTERVAL_MS: '1000' } }),
  ]);
  await generate();
  await typeCheck();
  const outfile = join(folder, 'drive.mjs');
  await build({ entryPoints: [join(folder, 'drive.ts')], outfile, bundle: true, format: 'esm' });
  driver = (await import(pathToFileURL(outfile).href)) as Driver;
}, 300_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a program of this project in the folder; on failure its output is in the error. */
const run = (program: string, args: string[]): string =>
  execFileSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });

async function generate(): Promise<void> {
  const document = await gateway.api('GET', '/openapi.json');
  expect(document.status).toBe(200);
  await writeFile(join(folder, 'openapi.json'), document.text);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  run(GENERATOR, ['-i', 'openapi.json', '-o', 'client', '--no-log-file']);
  await copyFile(DRIVER, join(folder, 'drive.ts'));
}

async function typeCheck(): Promise<void> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2024',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: [],
  };
  const config = { compilerOptions, include: ['drive.ts', 'client/**/*.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  expect(run(COMPILER, ['-p', '.'])).toBe('');
}

it('[REG-8] [REG-1] [REG-2] [REG-3] [REG-7] [AG-US6-AC1] drives the whole life of a server', async () => {
  const { origin, adminToken } = gateway;
  const driven = await driver.drive(origin, adminToken, `${upstream.origin}/mcp`);
  const { created } = driven as { created: { id: string } };
  expect(driven).toMatchObject({
    created: { name: 'generated', status: 'DISCONNECTED', tool_count: 0, revision: 1 },
    location: `/api/v1/aggregator/servers/${created.id}`,
    listed: ['generated'],
    said: { type: 'text', text: 'Echo: through a generated client' },
    renamed: { id: created.id, name: 'renamed', revision: 2 },
    stale: { status: 412, code: 'precondition_failed' },
    disconnected: { status: 'DISCONNECTED' },
    refused: { status: 503, code: 'server_disconnected' },
    reconnected: 'CONNECTED',
    gone: { status: 404, code: 'not_found' },
    actions: [
      'server.delete done',
      'server.connect done',
      'server.disconnect done',
      'server.update failed',
      'server.update done',
      'server.connect done',
      'server.create done',
    ],
  });
  expect(driven['tools']).toContain('generated.echo');
}, 300_000);

it('[REG-8] [ACC-1] [ACC-2] drives access to a server', async () => {
  const { origin, adminToken } = gateway;
  const driven = await driver.driveAccess(origin, adminToken, `${upstream.origin}/mcp`);
  expect(driven).toMatchObject({
    groups: ['g'],
    seen: [
      ['shared.echo', 'shared.embedded', 'shared.executions'],
      ['shared.echo', 'shared.embedded'],
    ],
    path: '/mcp/toolsets/t',
    bounded: { status: 403, code: 'forbidden' },
    rotated: [401, 200],
    gone: [401, 401],
  });
}, 300_000);
