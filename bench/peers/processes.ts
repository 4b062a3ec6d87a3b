/** Programs that a run starts. Each leads a process group of its own, which ends with `stop`, or when the run itself is killed. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { unwatch, watch } from '../../local/watchdog.ts';

const READY_MS = 60_000;
const GRACE_MS = 5_000;
const LOG_CHARS = 4_000;

/** A running program. */
export interface Program {
  pid: number;
  /** The end of its output. */
  output(): string;
  hasEnded(): boolean;
  /** Ends it and everything it started. @param signal SIGKILL simulates a crash */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Working folder and environment of a program. */
export interface Surroundings {
  cwd?: string;
  env: Record<string, string>;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone.
  }
}

/** Starts a Node program. @param args the file, and its arguments */
export function startProgram(args: readonly string[], { cwd, env }: Surroundings): Program {
  const child = spawn(process.execPath, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`could not start ${args[0] ?? ''}`);
  watch(-pid);
  let output = '';
  const keep = (chunk: unknown) => (output = `${output}${String(chunk)}`.slice(-LOG_CHARS));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid,
    output: () => output,
    hasEnded,
    async stop(signal = 'SIGTERM') {
      const gone = hasEnded() ? undefined : once(child, 'exit');
      signalGroup(pid, signal);
      if (gone) await Promise.race([gone, sleep(GRACE_MS, undefined, { ref: false })]);
      signalGroup(pid, 'SIGKILL');
      await gone;
      unwatch(-pid);
    },
  };
}

/** Waits until a program is ready. @throws Error with its output where it ends first or is not ready in time */
export async function whenReady(
  program: Program,
  isReady: () => Promise<boolean>,
  within = READY_MS,
): Promise<void> {
  const until = Date.now() + within;
  while (!(await isReady().catch(() => false))) {
    if (program.hasEnded() || Date.now() > until) {
      throw new Error(`it did not start: ${program.output().trim().slice(-500)}`);
    }
    await sleep(50);
  }
}

/** Starts a program and returns it when it is ready; otherwise ends it. @throws Error as `whenReady` */
export async function startReady(
  args: readonly string[],
  surroundings: Surroundings,
  isReady: () => Promise<boolean>,
): Promise<Program> {
  const program = startProgram(args, surroundings);
  try {
    await whenReady(program, isReady);
    return program;
  } catch (error) {
    await program.stop();
    throw error;
  }
}

/** Returns a free loopback port. */
export async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Whether something responds over HTTP there, with any status. */
export async function answers(url: string): Promise<boolean> {
  await (await fetch(url)).body?.cancel();
  return true;
}

/** Resident memory of processes and their descendants, in MiB. */
export function memoryOf(pids: readonly number[]): number {
  const text = execFileSync('ps', ['-axo', 'pid=,ppid=,rss='], { encoding: 'utf8' });
  const rows = text
    .trim()
    .split('\n')
    .map(line => line.trim().split(/ +/).map(Number));
  const counted = new Set(pids);
  for (let size = -1; size !== counted.size;) {
    size = counted.size;
    for (const [pid = 0, parent = 0] of rows) if (counted.has(parent)) counted.add(pid);
  }
  const kibibytes = rows.reduce(
    (sum, [pid = 0, , rss = 0]) => sum + (counted.has(pid) ? rss : 0),
    0,
  );
  return kibibytes / 1_024;
}
