/** `npm run deploy` against our fake Cloudflare: the command, its output, and the uploaded gateway. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startCloudflare, type FakeCloudflare } from '../../fixtures/cloudflare/cloudflare.ts';
import { findFreePort } from '../../fixtures/start-fixture.ts';
import { withoutSettings } from './gateway.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface Ended {
  code: number | null;
  /** Both streams. */
  text: string;
}

export interface DeployWorld {
  cloudflare: FakeCloudflare;
  origin: string;
  /** Name of the deployment, different for each world. */
  name: string;
  /** The folder in which the command stores its state. */
  kept: string;
  /** The arguments with which every run of the command, and every process that it started, was called. */
  seenArguments: string[];
  deploy(args?: string[], env?: Record<string, string>): Promise<Ended>;
  /** Returns every file of that folder, as one text. */
  keptText(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * @param outbound answers the deployed gateway's requests to public servers
 * @param project a checkout whose `wrangler.toml` has its own name, instead of this one
 */
export async function createDeployWorld(
  outbound: Parameters<typeof startCloudflare>[2],
  project?: { root: string; name: string },
): Promise<DeployWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-cloudflare-'));
  const port = await findFreePort();
  const cloudflare = await startCloudflare(folder, port, outbound);
  const origin = `http://127.0.0.1:${port}`;
  const root = project?.root ?? ROOT;
  const name = project?.name ?? `test-${process.pid}-${port}`;
  const ownName = project ? [] : ['--name', name];
  const kept = join(root, '.portico', 'cloudflare', name);
  const seenArguments: string[] = [];

  async function deploy(args: string[] = [], env: Record<string, string> = {}): Promise<Ended> {
    const child = spawn(
      process.execPath,
      [join(root, 'deploy/main.ts'), ...ownName, '--url', origin, ...args],
      {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...withoutSettings(process.env),
          CLOUDFLARE_API_BASE_URL: cloudflare.baseUrl,
          CLOUDFLARE_API_TOKEN: cloudflare.token,
          NO_COLOR: '1',
          ...env,
        },
      },
    );
    let text = '';
    child.stdout.on('data', chunk => (text += String(chunk)));
    child.stderr.on('data', chunk => (text += String(chunk)));
    const timer = setInterval(() => void noteArguments(child.pid, seenArguments), 50);
    const code = await new Promise<number | null>(resolve => child.once('close', resolve));
    clearInterval(timer);
    return { code, text };
  }

  return {
    cloudflare,
    origin,
    name,
    kept,
    seenArguments,
    deploy,
    async keptText() {
      const entries = await readdir(kept, { recursive: true, withFileTypes: true });
      const files = entries.filter(entry => entry.isFile());
      const paths = files.map(({ parentPath, name: file }) => join(parentPath, file));
      const texts = await Promise.all(paths.map(path => readFile(path, 'utf8')));
      return [...paths, ...texts].join('\n');
    },
    async stop() {
      await cloudflare.stop();
      await rm(folder, { recursive: true, force: true });
      await rm(kept, { recursive: true, force: true });
    },
  };
}

/** Records the arguments of a process and of its children, which everybody on the machine can read. */
async function noteArguments(pid: number | undefined, seen: string[]): Promise<void> {
  const read = (path: string) => readFile(path, 'utf8').catch(() => '');
  const children = await read(`/proc/${pid}/task/${pid}/children`);
  for (const each of [String(pid), ...children.trim().split(' ')].filter(Boolean)) {
    const line = await read(`/proc/${each}/cmdline`);
    if (line !== '' && !seen.includes(line)) seen.push(line);
  }
}
