/**
 * A reader of the guides: a folder with a gateway in it, and a terminal in which the blocks of one guide are typed in order, so that a
 * variable of one block is available in the next. Owns the folder and everything that it starts: each a process group, ended by id. `npm
 * start` and `portico` are those of the checkout, with this folder instead of the checkout's own.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import { startGuideCloudflare, type GuideCloudflare } from './guide-cloudflare.ts';
import { findMissing, type BlockStep, type Step } from './guide-text.ts';
import { MAIN } from './portico-command.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const WAIT_MS = 60_000;
/** A deployment first bundles the Worker. */
const DEPLOY_WAIT_MS = 300_000;
/** The ports in the guides' text, the gateway's first; here they are replaced by free ports. */
const WRITTEN = ['8787', '8790', '8791'];

interface Running {
  child: ChildProcess;
  output(): string;
}

function run(file: string, cwd: string, env: NodeJS.ProcessEnv): Running {
  const child = spawn('bash', ['-eo', 'pipefail', file], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', chunk => (text += String(chunk)));
  child.stderr.on('data', chunk => (text += String(chunk)));
  return { child, output: () => text };
}

function signal({ child }: Running, name: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, name);
  } catch {
    // It has exited already.
  }
}

/** Ends it like a reader who presses Ctrl-C. */
async function interrupt(running: Running): Promise<void> {
  const { child } = running;
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    signal(running, 'SIGINT');
    const timer = setTimeout(() => signal(running, 'SIGKILL'), WAIT_MS);
    await exit;
    clearTimeout(timer);
  }
  signal(running, 'SIGKILL');
}

export class GuideReader {
  #folder = '';
  /** Real ports by the ports in the text. */
  #ports = new Map<string, number>();
  /** What runs in other terminals; the gateway is the first. */
  #terminals: Running[] = [];
  #cloudflare: GuideCloudflare | undefined;
  #files = 0;

  async open(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'portico-guides-'));
    for (const port of WRITTEN) this.#ports.set(port, await findFreePort());
    const bin = join(this.#folder, 'bin');
    await mkdir(bin);
    const command = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`;
    await writeFile(join(bin, 'portico'), command);
    await chmod(join(bin, 'portico'), 0o755);
    await symlink(join(ROOT, 'node_modules'), join(this.#folder, 'node_modules'));
    this.#cloudflare = await startGuideCloudflare();
    const scripts = {
      deploy: this.#cloudflare.deployScript,
      start: `node '${ROOT}local/start.mjs' --port ${this.#here('8787')} --data .portico`,
    };
    await writeFile(join(this.#folder, 'package.json'), JSON.stringify({ scripts }));
  }

  /** Follows the steps of a guide in order; a gateway with the demo servers runs from the start. */
  async follow(steps: readonly Step[]): Promise<void> {
    await this.#startGateway();
    const env = await this.#environment();
    const kept = join(this.#folder, 'kept.sh');
    await writeFile(kept, '');
    for (const step of steps) {
      if (step.kind === 'ctrl-c') await this.#endLast();
      if (step.kind === 'background') await this.#runAside(step, env, kept);
      if (step.kind === 'command') await this.#runBlock(step, env, kept);
      if (step.kind === 'cloudflare') await this.#runBlock(...this.#atCloudflare(step, env), kept);
    }
  }

  /** Returns a block as typed by a reader who deploys to the fake Cloudflare. */
  #atCloudflare(step: BlockStep, env: NodeJS.ProcessEnv): [BlockStep, NodeJS.ProcessEnv] {
    const { here, env: own } = this.#cloudflare ?? { here: (text: string) => text, env: {} };
    const { command, expected } = step;
    const typed = { ...step, command: here(command), expected: expected.map(here) };
    return [typed, { ...env, ...own }];
  }

  /** Ends what the guide left running in other terminals. */
  async tidy(): Promise<void> {
    while (this.#terminals.length > 1) await this.#endLast();
  }

  async close(): Promise<void> {
    while (this.#terminals.length > 0) await this.#endLast();
    await this.#cloudflare?.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #startGateway(): Promise<void> {
    if (this.#terminals.length > 0) return;
    const step = { kind: 'background', line: 0, command: 'npm start' } as const;
    const expected = ['Log: … Ctrl-C stops everything; the data stays.'];
    await this.#runAside({ ...step, expected }, this.#plain(), '/dev/null');
  }

  /** The environment of a new terminal. */
  #plain(): NodeJS.ProcessEnv {
    const path = `${join(this.#folder, 'bin')}:${process.env['PATH']}`;
    return {
      PATH: path,
      HOME: this.#folder,
      // Each command is a process: its code is compiled once for all of them.
      NODE_COMPILE_CACHE: join(this.#folder, 'compiled'),
      // Wrangler stores an account there, which would be another run's.
      WRANGLER_CACHE_DIR: join(this.#folder, 'wrangler'),
      npm_config_update_notifier: 'false',
    };
  }

  async #environment(): Promise<NodeJS.ProcessEnv> {
    const file = join(this.#folder, '.portico/secrets.json');
    const { adminToken } = JSON.parse(await readFile(file, 'utf8')) as { adminToken: string };
    const url = this.#here('http://127.0.0.1:8787');
    return { ...this.#plain(), PORTICO_URL: url, PORTICO_TOKEN: adminToken };
  }

  #here = (text: string): string =>
    text.replaceAll(/\b87\d\d\b/gu, port => String(this.#ports.get(port) ?? port));

  async #write(text: string): Promise<string> {
    const file = join(this.#folder, `block-${(this.#files += 1)}.sh`);
    await writeFile(file, text);
    return file;
  }

  async #runBlock(step: BlockStep, env: NodeJS.ProcessEnv, kept: string) {
    // What a terminal keeps from one command to the next: variables and functions.
    const keep = `{ export -p; declare -f; } > '${kept}'`;
    const marked = this.#here(step.command);
    const file = await this.#write(`set -a\n. '${kept}'\n${marked}\n${keep}\n`);
    const running = run(file, this.#folder, env);
    const waitMs = step.kind === 'cloudflare' ? DEPLOY_WAIT_MS : WAIT_MS;
    const timer = setTimeout(() => signal(running, 'SIGKILL'), waitMs);
    const [code] = (await once(running.child, 'close')) as [number | null];
    clearTimeout(timer);
    const missing = findMissing(step.expected.map(this.#here), running.output());
    if (code === 0 && missing === undefined) return;
    const why = code === 0 ? `does not print "${missing}"` : `ends with ${code}`;
    throw new Error(`line ${step.line}: ${why}\n${step.command}\n${running.output()}`);
  }

  async #runAside(step: BlockStep, env: NodeJS.ProcessEnv, kept: string) {
    const file = await this.#write(`. '${kept}'\n${this.#here(step.command)}\n`);
    const running = run(file, this.#folder, env);
    this.#terminals.push(running);
    const expected = step.expected.map(this.#here);
    if (expected.length === 0) throw new Error(`line ${step.line}: when is it ready?`);
    const isReady = async () => {
      if (findMissing(expected, running.output()) === undefined) return 'ready';
      return running.child.exitCode === null ? undefined : 'ended';
    };
    const state = await until('it is ready', WAIT_MS, isReady).catch(String);
    if (state === 'ready') return;
    throw new Error(`line ${step.line}: ${state}\n${step.command}\n${running.output()}`);
  }

  async #endLast(): Promise<void> {
    const last = this.#terminals.pop();
    if (last) await interrupt(last);
  }
}
