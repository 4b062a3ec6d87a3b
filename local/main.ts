/**
 * `npm start`, once the packages are installed: gateway, demo servers and registrations on this machine.
 *
 * Owns: the order of the start, the terminal output, and the stop. Ctrl-C, SIGTERM, or the end of the parent process (IPC) stops everything
 * that was started here, with exit code 0: running requests get five seconds, everything else 1.5; a second signal does not wait. If it
 * cannot start, it prints one line on standard error and exits with code 1, or 2 for a wrong command line or admin token.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApi } from './api.ts';
import { parseServerConfig } from './config-file.ts';
import type { ServerConfig } from './config-file.ts';
import { lockDataFolder } from './data-lock.ts';
import { startDemo } from './demo.ts';
import { drain } from './draining.ts';
import type { Host } from './host.ts';
import type { Demo } from './demo.ts';
import { provideMemberToken } from './member-token.ts';
import { openLogFile } from './log-file.ts';
import type { LogFile } from './log-file.ts';
import { parseOptions } from './options.ts';
import { isFreePort, portTaken } from './ports.ts';
import { startListener } from './public-listener.ts';
import { toPublicText } from './public-text.ts';
import { toReadyText } from './ready-text.ts';
import { registerConfigured, registerDemo } from './registrations.ts';
import { announce } from './running.ts';
import { loadSecrets, makeDataFolder } from './secrets.ts';
import { readSettings } from './settings.ts';
import { StartError, toLine } from './start-error.ts';
import { readSourceFiles } from './source-files.ts';
import { provideSignInLink } from './sign-in-link.ts';
import { createSteps } from './steps.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Time that running requests get to finish, in milliseconds. */
const DRAIN_MS = 5_000;
/** Longest time between telling everything to end and the exit of this process, in milliseconds. */
const STOP_TIMEOUT_MS = 1500;

const steps = createSteps(process.stdout);
const stops: (() => unknown)[] = [];
/** Frees the data folder; only once everything that uses it has ended. */
let unlock = () => {};
let isDraining = false;
let isStopping = false;
/** Set once the gateway serves. */
let host: Host | undefined;
/** Set once the data folder exists. */
let logFile: LogFile | undefined;

async function start(): Promise<void> {
  const userDir = process.env['npm_lifecycle_event'] === 'start' ? process.env['INIT_CWD'] : '';
  const options = parseOptions(
    process.argv.slice(2),
    userDir || process.cwd(),
    join(ROOT, '.portico'),
    process.env,
  );
  const { dataDir, port, team } = options;
  const settings = readSettings(process.env, team?.origin);
  const traces = process.env['PORTICO_TRACE_DIR'];
  const config = options.configFile === undefined ? undefined : readConfig(options.configFile);
  if (!(await isFreePort(port, team?.host))) throw portTaken(port);
  await makeDataFolder(dataDir);
  unlock = lockDataFolder(dataDir);
  const { PORTICO_ADMIN_TOKEN: wantedToken, PORTICO_KEYS: givenKeys } = process.env;
  const secrets = await loadSecrets(dataDir, wantedToken || undefined, givenKeys);
  // For a team, the program that started this process reads its terminal output.
  const onRequest = team && ((line: string) => void process.stdout.write(`${line}\n`));
  const log = openLogFile(join(dataDir, 'log'), undefined, onRequest);
  logFile = log;

  const loading = import('./gateway.ts');
  const demo = options.demo ? await startDemoServers(dataDir, log) : undefined;
  const { startGateway } = await loading;
  const started = await steps.run(
    'starting the gateway',
    async () =>
      startGateway(
        {
          files: await readSourceFiles(),
          dataDir,
          // For a team, a separate listener takes the port.
          port: team ? 0 : port,
          secrets,
          settings,
          traces,
          log,
        },
        ({ close }) => void stops.unshift(close),
      ),
    ({ applied }) =>
      applied.length === 0
        ? 'gateway started'
        : `gateway started, database made up to date (${applied.length} migrations)`,
  );
  host = started;
  stops.unshift(announce(dataDir, started.url));
  const api = createApi(started.url, secrets.adminToken);
  if (demo !== undefined) await registerDemo(demo, api, steps);
  if (config !== undefined) await registerConfigured(config, api, steps);
  if (team) {
    const { close } = await startListener({ ...team, port, target: started.url });
    stops.unshift(close);
    steps.say(toPublicText({ ...team, port, secretsFile: secrets.file, steps }));
    return;
  }
  const memberToken = await provideMemberToken(secrets, api);
  // A sign-in link must not end up in a log, so it is shown only on a terminal.
  const signInLink = process.stdout.isTTY
    ? await provideSignInLink(started.url, secrets, api)
    : undefined;
  const shown = { origin: started.url, secrets, memberToken, signInLink };
  steps.say(toReadyText({ ...shown, dataDir: toShort(dataDir), steps }));
  if (secrets.isTokenUnseen) await secrets.markTokenSeen();
}

async function startDemoServers(dataDir: string, to: LogFile): Promise<Demo | undefined> {
  try {
    const demo = await steps.run(
      'starting the demo servers',
      () => startDemo(dataDir, to),
      () => 'demo servers started',
    );
    stops.push(demo.stop);
    return demo;
  } catch (error) {
    steps.warn(toLine(error));
    return undefined;
  }
}

function readConfig(file: string): ServerConfig {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`, 2);
  }
  return parseServerConfig(text, file, process.env);
}

/** Shortens a path to a relative one, if it is below the working directory. */
function toShort(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}

/** The first signal lets running requests finish, the second does not. */
async function stopGently(): Promise<void> {
  if (isDraining) return stop(0);
  isDraining = true;
  if (host) await drain(host, DRAIN_MS, text => steps.say(text));
  await stop(0);
}

async function stop(exitCode: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  setTimeout(() => process.exit(exitCode), STOP_TIMEOUT_MS);
  await Promise.allSettled(stops.map(async end => end()));
  unlock();
  process.exit(exitCode);
}

function fail(error: unknown): void {
  if (isStopping) return;
  logFile?.write('start', error instanceof Error ? (error.stack ?? error.message) : String(error));
  const hint =
    error instanceof StartError || logFile === undefined ? '' : `; see ${toShort(logFile.path)}`;
  process.stderr.write(`✗ ${toLine(error)}${hint}\n`);
  void stop(error instanceof StartError ? error.exitCode : 1);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void stopGently());
}
process.once('disconnect', () => {
  if (!isDraining) void stopGently();
});
process.on('uncaughtException', fail);
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

start().catch(fail);
