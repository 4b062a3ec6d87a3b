/** `portico connect` as users start it: a process, an `mcp.json`, its own home folder. All of it is removed after the test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../../fixtures/start-fixture.ts';
import { COMPILE_CACHE, MAIN } from './portico-command.ts';

const FIXTURE = fileURLToPath(new URL('../../fixtures/stdio-tools.ts', import.meta.url));
const WAIT_MS = 60_000;

export interface ConnectProcess {
  child: ChildProcess;
  /** Its output so far. */
  output(): string;
  /** Its exit code. */
  ended: Promise<number | null>;
  /** Waits until its output contains a text. */
  says(text: string): Promise<string>;
}

/** The folder of one test: files, its servers' logs, and the started processes. */
export class ConnectStand {
  readonly folder: string;
  readonly #started: ConnectProcess[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<ConnectStand> {
    return new ConnectStand(await mkdtemp(join(tmpdir(), 'portico-connect-')));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, content: unknown): string {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  /** Returns the entry of a server that logs to `NAME.log`. */
  tools(name: string, env: Record<string, string> = {}): Record<string, unknown> {
    const files = { LOG: this.path(`${name}.log`), GO: this.path('go') };
    return { command: process.execPath, args: [FIXTURE], env: { ...files, ...env } };
  }

  /** Returns the lines that a server has logged. */
  log(name: string): string[] {
    const file = this.path(`${name}.log`);
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Waits until a server has logged a line. */
  async logs(name: string, line: string): Promise<void> {
    await until(`${name} logs ${line}`, WAIT_MS, async () =>
      this.log(name).includes(line) ? true : undefined,
    );
  }

  /** Starts the command with arguments after `connect`. */
  start(args: readonly string[], env: Record<string, string> = {}): ConnectProcess {
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, [MAIN, 'connect', ...args], {
      cwd: this.folder,
      env: { PATH, HOME: this.folder, ...COMPILE_CACHE, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    const ended = once(child, 'close').then(([code]) => code as number | null);
    const says = async (text: string) => {
      await until(`"${text}" in the output`, WAIT_MS, async () => {
        return output.includes(text) ? true : undefined;
      });
      return output;
    };
    const started = { child, output: () => output, ended, says };
    this.#started.push(started);
    return started;
  }

  async remove(): Promise<void> {
    for (const { child } of this.#started) child.kill('SIGTERM');
    await Promise.all(this.#started.map(({ ended }) => ended));
    await rm(this.folder, { recursive: true, force: true });
  }
}
