/** The files for one server (`server/`): the Dockerfile is followed without Docker; unit, compose file and Caddyfile are read. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseOptions } from '../../../local/options.ts';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import { buildImage, runInImage } from '../support/dockerfile.ts';
import { ask } from '../support/team-gateway.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (name: string) => readFile(join(ROOT, 'server', name), 'utf8');
const ENVIRONMENT = { PORTICO_PUBLIC_URL: 'https://mcp.example.com' };
const HOST = { host: 'mcp.example.com' };
const WAIT_MS = 120_000;

describe('the image', () => {
  let image: Awaited<ReturnType<typeof buildImage>>;
  let running: ReturnType<typeof runInImage>;
  let port: number;

  beforeAll(async () => {
    image = await buildImage(ROOT);
    port = await findFreePort();
    // The tests stay on loopback: the last of two equal options applies.
    const own = ['--host', '127.0.0.1', '--port', String(port)];
    running = runInImage(image, [...image.command, ...own], ENVIRONMENT);
    const state = await until('the gateway is ready', WAIT_MS, async () => {
      if (running.child.exitCode !== null) return 'ended';
      return running.output().includes('Portico is ready') ? 'ready' : undefined;
    });
    if (state === 'ended') throw new Error(running.output());
  });

  afterAll(async () => {
    if (running?.child.exitCode === null) {
      const exit = once(running.child, 'exit');
      running.child.kill('SIGTERM');
      await exit;
    }
    await image?.remove();
  });

  const check = async (to: number) => {
    const [, ...args] = image.healthCheck;
    const { child, output } = runInImage(image, ['node', ...args, String(to)], ENVIRONMENT);
    const [code] = (await once(child, 'close')) as [number];
    return { code, said: output() };
  };

  it('[OPS-5] starts as an unprivileged user, and listens for others', () => {
    expect(image.user).toBe('node');
    expect(image.command).toEqual(expect.arrayContaining(['--host', '0.0.0.0']));
    expect(running.output()).toContain('https://mcp.example.com/mcp');
  });

  it('[OPS-5] [SEC-2] contains no settings of the machine on which it is built', async () => {
    expect(await readdir(join(image.app, 'server'))).toEqual(['healthy.mjs', 'prepare.mjs']);
  });

  it('[OPS-5] serves', async () => {
    const ready = await ask(`http://127.0.0.1:${port}/health/ready`, { headers: HOST });
    expect([ready.status, ready.text]).toEqual([200, '{"status":"ok","version":"0.1.0"}']);
    const { adminToken } = JSON.parse(await readFile(join(image.data, 'secrets.json'), 'utf8')) as {
      adminToken: string;
    };
    const headers = { ...HOST, authorization: `Bearer ${adminToken}` };
    const listed = await ask(`http://127.0.0.1:${port}/api/v1/tools`, { headers });
    expect(listed.status).toBe(200);
    expect((await ask(`http://127.0.0.1:${port}/docs`, { headers: HOST })).status).toBe(200);
  });

  it('[OPS-5] [SEC-2] writes only into its volume, readable by its owner only', async () => {
    const { uid } = await lstat(image.data);
    for (const name of await readdir(image.data)) {
      const entry = await lstat(join(image.data, name));
      expect([name, entry.uid]).toEqual([name, uid]);
    }
    expect((await lstat(join(image.data, 'secrets.json'))).mode & 0o777).toBe(0o600);
    if (process.getuid?.() !== 0) return;
    const { stdout } = await promisify(execFile)('find', [image.app, '-uid', String(uid)]);
    expect([uid, stdout]).toEqual([65_534, '']);
  });

  it('[OPS-5] is healthy while it serves, and otherwise says why not', async () => {
    expect(await check(port)).toMatchObject({ code: 0 });
    const elsewhere = await check(await findFreePort());
    expect(elsewhere.code).toBe(1);
    expect(elsewhere.said).toContain('ECONNREFUSED');
  });

  it('[OPS-5] shuts down cleanly on request', async () => {
    const exit = once(running.child, 'exit');
    running.child.kill('SIGTERM');
    expect((await exit)[0]).toBe(0);
    expect((await check(port)).code).toBe(1);
  });
});

it('[OPS-5] the unit starts what npm start does, in its own folder', async () => {
  const unit = await read('portico.service');
  const command = /^ExecStart=(.*)$/mu.exec(unit)?.[1]?.split(' ') ?? [];
  expect(command.slice(0, 3)).toEqual(['/usr/bin/env', 'node', 'local/start.mjs']);
  const rest = (url: string) => command.slice(3).map(part => part.replace(/^\$\{\w+\}$/u, url));
  expect(command).toContain('${PORTICO_PUBLIC_URL}');
  const options = parseOptions(
    rest(ENVIRONMENT.PORTICO_PUBLIC_URL),
    '/opt/portico',
    '/opt/portico/.portico',
    ENVIRONMENT,
  );
  expect(options).toMatchObject({ dataDir: '/var/lib/portico', demo: false });
  expect(options.team).toMatchObject({ host: '127.0.0.1', origin: 'https://mcp.example.com' });
  // Without an address it would be for this machine only, and print its tokens.
  expect(() => parseOptions(rest(''), '/', '/', {})).toThrow('--public-url must be https');
  for (const line of [
    'RestartPreventExitStatus=2',
    'DynamicUser=yes',
    'StateDirectory=portico',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'CapabilityBoundingSet=',
    'SystemCallFilter=@system-service',
  ]) {
    expect(unit.split('\n')).toContain(line);
  }
});

it('[OPS-5] the compose file admits traffic through Caddy only, whose network it trusts', async () => {
  const compose = await read('compose.yaml');
  const [, gateway = '', caddy = ''] = compose.split(/^ {2}(?:portico|caddy):$/mu);
  expect(gateway).not.toContain('ports:');
  expect(gateway).toContain('read_only: true');
  expect(caddy).toContain('- 443:443');
  const subnet = /subnet: (\S+)/u.exec(compose)?.[1];
  expect(gateway).toContain(`PORTICO_TRUSTED_PROXIES: ${subnet}`);
  expect(await read('Caddyfile')).toContain('reverse_proxy {$PORTICO_GATEWAY:127.0.0.1:8787}');
});
