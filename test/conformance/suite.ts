/**
 * Runs the official suite through its command, as its users do, and reads the checks that it writes. A scenario passes when none of its
 * checks failed and at least one succeeded. A scenario that wrote no checks did not run, which is a failure.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { untilEnd } from './children.ts';
import { SUITE } from './requirements.ts';
import type { Revision } from './requirements.ts';

/** A whole revision takes ten seconds; at this timeout a hanging run is ended. */
const REVISION_TIMEOUT_MS = 240_000;
const SCENARIO_TIMEOUT_MS = 60_000;
/** How long the suite gives a client. */
const CLIENT_TIMEOUT_MS = 20_000;

/** What a client writes last when it has finished. Without it a scenario fails, whatever its checks say. */
export const DONE = 'done';

export interface Outcome {
  status: 'passed' | 'failed' | 'skipped' | 'not run';
  succeeded: number;
  warnings: string[];
  failures: string[];
}

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  description: string;
  errorMessage?: string;
}

export const NOT_RUN: Outcome = { status: 'not run', succeeded: 0, warnings: [], failures: [] };

/** The suite's command. */
export const command = fileURLToPath(new URL('dist/index.js', SUITE));

/** Runs the suite until it exits or times out. Its findings are in the files that it wrote. */
async function run(
  args: string[],
  timeoutMs: number,
  env: Record<string, string> = {},
): Promise<void> {
  const child = spawn(process.execPath, [command, ...args], {
    stdio: 'ignore',
    env: { ...process.env, ...env },
  });
  await untilEnd(child, timeoutMs);
}

function toLine({ id, description, errorMessage }: Check): string {
  return `${id}: ${errorMessage ?? description}`.replaceAll(/\s+/gu, ' ');
}

/** Reads the outcome from the checks in a folder. */
export function readOutcome(folder: string): Outcome {
  let checks: Check[];
  try {
    checks = JSON.parse(readFileSync(join(folder, 'checks.json'), 'utf8')) as Check[];
  } catch {
    return NOT_RUN;
  }
  const having = (status: Check['status']) => checks.filter(check => check.status === status);
  const succeeded = having('SUCCESS').length;
  const failures = having('FAILURE').map(toLine);
  const status = failures.length > 0 ? 'failed' : succeeded > 0 ? 'passed' : 'skipped';
  return { status, succeeded, warnings: having('WARNING').map(toLine), failures };
}

/** Runs the suite's client against the server at `url`: all that a revision names, or one scenario. */
export async function testServer(
  url: string,
  revision: Revision,
  scenario: string | undefined,
  folder: string,
): Promise<Map<string, Outcome>> {
  const selection =
    scenario === undefined
      ? ['--requirements', revision]
      : ['--scenario', scenario, '--spec-version', revision, '--force'];
  const timeoutMs = scenario === undefined ? REVISION_TIMEOUT_MS : SCENARIO_TIMEOUT_MS;
  await run(['server', '--url', url, '-o', folder, ...selection], timeoutMs);
  const outcomes = new Map<string, Outcome>();
  for (const entry of readdirSync(folder)) {
    const name = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(entry)?.[1];
    if (name !== undefined) outcomes.set(name, readOutcome(join(folder, entry)));
  }
  return outcomes;
}

/** Runs one of the suite's servers against a client: a TypeScript file that takes the server's URL. */
export async function testClient(
  clientFile: string,
  env: Record<string, string>,
  revision: Revision,
  scenario: string,
  folder: string,
): Promise<Outcome> {
  const client = [process.execPath, '--disable-warning=ExperimentalWarning', clientFile];
  const commandLine = client.map(part => JSON.stringify(part)).join(' ');
  const selection = ['--scenario', scenario, '--spec-version', revision, '--force'];
  const limits = ['--timeout', String(CLIENT_TIMEOUT_MS), '-o', folder];
  const args = ['client', '--command', commandLine, ...selection, ...limits];
  await run(args, SCENARIO_TIMEOUT_MS, env);
  const written = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const file = written.find(name => name.endsWith('checks.json'));
  if (file === undefined) return NOT_RUN;
  const own = join(folder, file, '..');
  const outcome = readOutcome(own);
  if (readFileSync(join(own, 'stdout.txt'), 'utf8').endsWith(`${DONE}\n`)) return outcome;
  const reason = readFileSync(join(own, 'stderr.txt'), 'utf8').trim() || 'it was ended';
  const failure = `the client did not get to its end: ${reason.replaceAll(/\s+/gu, ' ')}`;
  return { ...outcome, status: 'failed', failures: [...outcome.failures, failure] };
}
