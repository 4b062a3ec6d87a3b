/**
 * A real Caddy in front of a gateway, with TLS under its own CA, on loopback. Owns its process, ended by id, and its folder. It appends the
 * client's address to the client's `X-Forwarded-For`, as a carelessly configured proxy does.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endChild, until } from '../../fixtures/start-fixture.ts';

const WAIT_MS = 60_000;

export interface Caddy {
  /** File with the certificate of its CA. */
  caFile: string;
  ca: string;
  stop(): Promise<void>;
}

interface CaddyOptions {
  /** Names under which it answers; it passes the Host on unchanged. */
  names: readonly string[];
  port: number;
  /** The gateway's address: `127.0.0.1:8787`. */
  target: string;
}

const toCaddyfile = (folder: string, { names, port, target }: CaddyOptions) => `{
  admin off
  skip_install_trust
  auto_https disable_redirects
  storage file_system ${join(folder, 'storage')}
  servers {
    protocols h1 h2
  }
}
${names.map(name => `https://${name}:${port}`).join(', ')} {
  bind 127.0.0.1
  tls internal
  reverse_proxy ${target} {
    trusted_proxies 127.0.0.0/8
  }
}
`;

/** @throws Error that says what to do if Caddy is missing */
export async function startCaddy(options: CaddyOptions): Promise<Caddy> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-caddy-'));
  const file = join(folder, 'Caddyfile');
  await writeFile(file, toCaddyfile(folder, options));
  const child: ChildProcess = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', file], {
    env: { PATH: process.env['PATH'], HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', chunk => (said += String(chunk)));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  await once(child, 'spawn').catch(async () => {
    await removeFolder();
    throw new Error('This test needs Caddy, which is not installed: apt-get install caddy');
  });
  const caFile = join(folder, 'storage/pki/authorities/local/root.crt');
  const ca = await until('Caddy has certificates and listens', WAIT_MS, async () => {
    if (child.exitCode !== null) return undefined;
    return said.includes('certificate obtained') && said.includes('serving initial configuration')
      ? readFile(caFile, 'utf8')
      : undefined;
  }).catch(async (error: unknown) => {
    await endChild(child, 'SIGKILL');
    await removeFolder();
    throw new Error(`${String(error)}\n${said}`);
  });
  return {
    caFile,
    ca,
    async stop() {
      await endChild(child, 'SIGTERM');
      await removeFolder();
    },
  };
}
