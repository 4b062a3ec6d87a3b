/**
 * The gateway's own process without the start script around it, in its own process group, so that a test can kill exactly what it wants:
 * the process alone, as `kill -9` does, or everything at once, as a power cut does. Owns what it starts, by id.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import { makeToken, withoutSettings } from './gateway.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const READY_MS = 120_000;
const started = new Set<ChildProcess>();

afterAll(async () => {
  for (const child of started) killGroup(child);
  await Promise.all([...started].map(ended));
});

export interface MainProcess {
  origin: string;
  port: number;
  adminToken: string;
  output(): string;
  /** Waits until it can serve. @throws Error with its output if it exits instead */
  ready(): Promise<void>;
  /** Sends SIGKILL to it and to everything that it started. */
  killAll(): void;
  /** Sends SIGKILL to it alone. */
  killMain(): void;
  /** Resolves when it has exited. */
  ended(): Promise<unknown>;
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

const ended = async (child: ChildProcess): Promise<unknown> =>
  child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;

/** Starts it on a data folder. */
export async function startMain(
  data: string,
  given: { port?: number; adminToken?: string } = {},
): Promise<MainProcess> {
  const { port = await findFreePort(), adminToken = makeToken() } = given;
  const args = ['--port', String(port), '--data', data, '--no-demo'];
  const child = spawn(process.execPath, ['local/main.ts', ...args], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...withoutSettings(process.env), PORTICO_ADMIN_TOKEN: adminToken },
  });
  started.add(child);
  let text = '';
  child.stdout.on('data', chunk => (text += String(chunk)));
  child.stderr.on('data', chunk => (text += String(chunk)));
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    port,
    adminToken,
    output: () => text,
    async ready() {
      const state = await until('the gateway is ready', READY_MS, async () => {
        if (child.exitCode !== null || child.signalCode !== null) return 'it ended';
        return (await fetch(`${origin}/health/ready`)).ok ? 'ready' : undefined;
      }).catch(String);
      if (state !== 'ready') throw new Error(`${state}\n${text}`);
    },
    killAll: () => killGroup(child),
    killMain: () => void child.kill('SIGKILL'),
    ended: () => ended(child),
  };
}
