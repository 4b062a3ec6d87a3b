/**
 * A person at a terminal: a command under `script` (util-linux), which provides the terminal, answered line by line as it asks. Owns what
 * it starts, by id.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll } from 'vitest';
import { endChild, until } from '../../fixtures/start-fixture.ts';
import { COMPILE_CACHE, MAIN } from './portico-command.ts';

const SOON_MS = 60_000;

export interface Terminal {
  /** Waits for a text that was not seen before; returns everything shown up to its end. */
  see(text: string): Promise<string>;
  /** Types a line, or presses a single key. */
  type(text: string): void;
  /** Waits for the exit; returns the exit code and everything shown since the text seen last. */
  end(): Promise<{ code: number | null; rest: string }>;
}

const running = new Set<ReturnType<typeof spawn>>();
afterAll(() => Promise.all([...running].map(child => endChild(child, 'SIGKILL'))));

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
/** Escape sequences that move the cursor or colour the text. */
// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001B\[[0-9;?]*[A-Za-z]/g;

/** Runs `portico` with these words at a terminal. */
export function startTerminal(words: readonly string[], env: Record<string, string>): Terminal {
  const command = [process.execPath, MAIN, ...words].map(quote).join(' ');
  const child = spawn(
    'script',
    ['--quiet', '--return', '--flush', '--command', command, '/dev/null'],
    {
      env: {
        PATH: process.env['PATH'],
        SHELL: '/bin/sh',
        TERM: 'xterm',
        COLUMNS: '200',
        ...COMPILE_CACHE,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  running.add(child);
  let shown = '';
  let seen = 0;
  child.stdout.on('data', chunk => (shown += String(chunk).replaceAll(ESCAPES, '')));
  const closed = once(child, 'close');
  return {
    async see(text) {
      const at = await until(`"${text}" is shown`, SOON_MS, async () => {
        const found = shown.indexOf(text, seen);
        return found < 0 ? undefined : found;
      }).catch(error => {
        throw new Error(`${String(error)}; shown: ${shown.slice(seen)}`);
      });
      const from = seen;
      seen = at + text.length;
      return shown.slice(from, seen);
    },
    type: text => void child.stdin.write(text.length === 1 && text < ' ' ? text : `${text}\r`),
    async end() {
      const [code] = await closed;
      running.delete(child);
      return { code: code as number | null, rest: shown.slice(seen) };
    },
  };
}
