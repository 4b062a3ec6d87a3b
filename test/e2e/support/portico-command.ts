/**
 * The `portico` command as a process, built as users install it (`setup.ts`): to its end, or line by line as a host does. Owns what it starts, by id. Its
 * environment contains only what is given.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, inject } from 'vitest';
import { endChild, until } from '../../fixtures/start-fixture.ts';

const FOLDER = inject('commandFolder');
/** The file of the command, for tests that start it themselves. */
export const MAIN = join(FOLDER, 'portico.mjs');
const RUN_TIMEOUT_MS = 120_000;
const SOON_MS = 60_000;

type Environment = Record<string, string | undefined>;

export interface Ran {
  code: number;
  out: string;
  err: string;
  /** Parses its output. @throws SyntaxError if it is no JSON */
  json<T = Record<string, unknown>>(): T;
}

export interface RunOptions {
  env?: Environment;
  input?: string;
  cwd?: string;
  /** Runs this file instead. */
  main?: string;
}

/** For a process without any other environment: it starts in half the time. Removed with the command. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(FOLDER, 'compiled') };

const environment = (env: Environment = {}): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  ...COMPILE_CACHE,
  ...env,
});

/** Runs a command to its end. */
export function runPortico(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env, input = '', cwd, main = MAIN } = options;
  return new Promise(resolve => {
    const child = execFile(
      process.execPath,
      [main, ...args],
      {
        env: environment(env),
        timeout: RUN_TIMEOUT_MS,
        maxBuffer: 2 ** 26,
        ...(cwd ? { cwd } : {}),
      },
      (error, out, err) => {
        const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0;
        resolve({ code, out, err, json: () => JSON.parse(out) });
      },
    );
    // A command that refuses at once may have exited before it reads its input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

export interface Message {
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** A host that sends its messages by hand. */
export interface Host {
  child: ChildProcess;
  /** Every line of standard output, unchanged. */
  lines: string[];
  errors(): string;
  send(...messages: (object | string)[]): void;
  /** Waits for the first message that matches. */
  message(fits: (message: Message) => boolean): Promise<Message>;
  answer(id: string | number | null): Promise<Message>;
  /** Closes standard input and returns the exit code. */
  end(): Promise<number | null>;
}

const hosts = new Set<ChildProcess>();
afterAll(() => Promise.all([...hosts].map(child => endChild(child, 'SIGKILL'))));

/** Starts `portico stdio`. @param token if empty, none is passed @param env additional variables */
export const startStdio = (
  url: string,
  token: string,
  args: readonly string[] = [],
  env: Environment = {},
): Host => startHost(['stdio', ...args], { PORTICO_URL: url, PORTICO_TOKEN: token, ...env });

/** Starts a command that is a stdio server. */
export function startHost(args: readonly string[], env: Environment = {}): Host {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: environment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  hosts.add(child);
  const lines: string[] = [];
  let errors = '';
  const reader = createInterface(child.stdout);
  reader.on('line', line => void lines.push(line));
  child.stderr.on('data', chunk => (errors += String(chunk)));
  // At this event all output has been read, which may be later than its exit.
  const closed = once(child, 'close');
  const message: Host['message'] = fits =>
    until('a message came', SOON_MS, async () =>
      lines.map(line => JSON.parse(line) as Message).find(fits),
    ).catch(error => {
      throw new Error(`${String(error)}; came ${lines.join('\n')}; said ${errors}`);
    });
  return {
    child,
    lines,
    errors: () => errors,
    send: (...messages) => {
      for (const each of messages) {
        child.stdin.write(`${typeof each === 'string' ? each : JSON.stringify(each)}\n`);
      }
    },
    message,
    answer: id => message(each => each.method === undefined && each.id === id),
    end: async () => {
      child.stdin.end();
      const [code] = await closed;
      hosts.delete(child);
      return code as number | null;
    },
  };
}
