/**
 * The child processes of a run: fixtures that print where they listen on their first line of output, and commands with a timeout. Owns each
 * by its id; `endAll` leaves none behind.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const START_TIMEOUT_MS = 20_000;
const running = new Set<ChildProcess>();
let isOver = false;

/** Registers a child. Kills it and throws once the run is over. */
function adopt(child: ChildProcess): void {
  running.add(child);
  if (!isOver) return;
  child.kill('SIGKILL');
  throw new Error('The run was ended');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
  running.delete(child);
}

/** Ends every running child; a child started from now on is killed at once. */
export async function endAll(): Promise<void> {
  isOver = true;
  await Promise.all([...running].map(end));
}

/** Waits until a child has exited; kills it after `timeoutMs`. */
export async function untilEnd(child: ChildProcess, timeoutMs: number): Promise<void> {
  adopt(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  await once(child, 'exit');
  clearTimeout(timer);
  running.delete(child);
}

/** Starts a fixture of test/fixtures and returns its port. */
export async function startFixture(name: string, args: string[] = []): Promise<number> {
  const file = fileURLToPath(new URL(`../fixtures/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  adopt(child);
  const signal = AbortSignal.timeout(START_TIMEOUT_MS);
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line', { signal }),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`))),
  ])) as string[];
  return (JSON.parse(line ?? '') as { port: number }).port;
}
