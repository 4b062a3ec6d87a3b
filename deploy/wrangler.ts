/** Runs the project's wrangler: migrations and upload. What it says goes to a log; of a failure its own line is told. */
import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';
import { StartError } from '../local/start-error.ts';

export interface Wrangler {
  /** @throws StartError with what wrangler says */
  run(what: string, args: readonly string[]): Promise<void>;
}

export interface WranglerOptions {
  /** Path of wrangler's own command. */
  command: string;
  cwd: string;
  account: string;
  env: NodeJS.ProcessEnv;
  logFile: string;
}

/** Variables that wrangler would obey beside its arguments: for another Worker's name, and an identity in place of the token. */
const WITHOUT = { CLOUDFLARE_ENV: '', CLOUDFLARE_API_KEY: '' };
const MAX_KEPT_CHARS = 200_000;
const MAX_TOLD_CHARS = 300;

export function createWrangler({ command, cwd, account, env, logFile }: WranglerOptions): Wrangler {
  return {
    async run(what, args) {
      const log = await open(logFile, 'a', 0o600);
      try {
        const child = spawn(process.execPath, [command, ...args], {
          cwd,
          stdio: ['ignore', 'pipe', 'pipe'],
          env: {
            ...env,
            ...WITHOUT,
            CLOUDFLARE_ACCOUNT_ID: account,
            WRANGLER_SEND_METRICS: 'false',
            CI: '1',
          },
        });
        const end = () => child.kill();
        process.once('exit', end);
        let said = '';
        const hear = (chunk: Buffer): void => {
          said = (said + String(chunk)).slice(-MAX_KEPT_CHARS);
          void log.write(chunk).catch(() => {});
        };
        child.stdout.on('data', hear);
        child.stderr.on('data', hear);
        const code = await new Promise<number | null>((resolve, reject) => {
          child.once('error', reject);
          child.once('close', resolve);
        });
        process.off('exit', end);
        if (code !== 0) throw new StartError(`${what} failed: ${toReason(said)} (log: ${logFile})`);
      } finally {
        await log.close();
      }
    },
  };
}

/** The line of an error that wrangler marked as one, else its last line. */
export function toReason(said: string): string {
  const lines = stripVTControlCharacters(said)
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean);
  const marked = lines.find(line => line.includes('[ERROR]'))?.replace(/^.*\[ERROR\]\s*/, '');
  const at = lines.findIndex(line => line.includes('[ERROR]'));
  // What the API said stands on a line of its own below.
  const below = lines.slice(at + 1).find(line => /\[code: \d+\]/.test(line));
  const told = [marked, below].filter(Boolean).join(' ') || lines.at(-1) || 'wrangler ended early';
  return told.slice(0, MAX_TOLD_CHARS);
}
