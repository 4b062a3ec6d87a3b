/**
 * Other gateways as programs of their own: mcp-hub and mcp-proxy, pinned in `package.json` beside this file and installed when they are
 * first measured. Each stands in front of the upstream of the bench and listens on loopback. `stop` ends both.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const BOOTSTRAP = new URL('../../local/bootstrap.mjs', import.meta.url).href;
/** Mcp-hub would read a list of servers off the internet when it starts. */
const LOOPBACK_ONLY = new URL('loopback-only.mjs', import.meta.url).href;
const READY_MS = 120_000;

export interface Peers {
  ports: { hub: number; proxy: number };
  stop(): Promise<void>;
}

/** The server's name at mcp-hub. */
export const HUB_SERVER = 'bench';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Waits until a program answers as it does when it is ready. */
async function whenReady(name: string, isReady: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + READY_MS;
  while (!(await isReady().catch(() => false))) {
    if (Date.now() > until) throw new Error(`${name} did not start`);
    await sleep(200);
  }
}

/** @param upstream URL of the server that both relay to */
export async function startPeers(upstream: string): Promise<Peers> {
  const { ensureInstalled }: { ensureInstalled(folder: string): Promise<void> } = await import(
    BOOTSTRAP
  );
  await ensureInstalled(FOLDER);
  const home = await mkdtemp(join(tmpdir(), 'portico-bench-peers-'));
  const config = join(home, 'hub.json');
  await writeFile(config, JSON.stringify({ mcpServers: { [HUB_SERVER]: { url: upstream } } }));
  const ports = { hub: await freePort(), proxy: await freePort() };
  // Without a path it finds no other program to fetch with.
  const env = { PATH: '', HOME: home, NODE_ENV: 'production' };
  const programs = [
    ['node_modules/mcp-hub/dist/cli.js', '--port', String(ports.hub), '--config', config],
    ['proxy.mjs', String(ports.proxy), upstream],
  ];
  const children = programs.map(args =>
    spawn(process.execPath, ['--import', LOOPBACK_ONLY, ...args], {
      cwd: FOLDER,
      env,
      stdio: 'ignore',
    }),
  );
  const end = () => children.forEach(child => child.kill());
  process.once('exit', end);
  const stop = async () => {
    const left = children.filter(({ exitCode, signalCode }) => (exitCode ?? signalCode) === null);
    const gone = left.map(child => once(child, 'exit'));
    end();
    await Promise.all(gone);
    process.off('exit', end);
    await rm(home, { recursive: true, force: true });
  };
  try {
    await whenReady('mcp-hub', async () => {
      const response = await fetch(`http://127.0.0.1:${ports.hub}/api/servers`);
      return (await response.text()).includes('"connected"');
    });
    await whenReady('mcp-proxy', async () => {
      await (await fetch(`http://127.0.0.1:${ports.proxy}/ping`)).arrayBuffer();
      return true;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { ports, stop };
}
