/**
 * `npm start`, once the packages are there: gateway, demo servers and registrations on this machine.
 *
 * Owns: the order of the start, what the terminal shows, and the end: Ctrl-C, SIGTERM, or the end of the process that
 * started it (IPC) stops everything that was started here, with exit code 0: requests under way get five seconds, the
 * rest two; the second signal waits for nothing. A reason not to start is one line on standard error and exit code 1,
 * or 2 for a wrong command line or admin token.
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
/** What is under way gets this long to end. */
const DRAIN_MS = 5_000;
/** Everything that was started is told to end, and then this process ends, within this time. */
const STOP_TIMEOUT_MS = 1500;

const steps = createSteps(process.stdout);
const stops: (() => unknown)[] = [];
let isDraining = false;
let isStopping = false;
/** Once it serves. */
let host: Host | undefined;
/** Known once the data folder is. */
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
  stops.push(lockDataFolder(dataDir));
  const secrets = await loadSecrets(dataDir, process.env['PORTICO_ADMIN_TOKEN'] || undefined);
  // What runs for a team has its terminal read by what started it.
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
          // Others reach it through a listener of its own.
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
  // What lets somebody in is for a person's eyes, not for a log.
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
  return parseServerConfig(text, file);
}

/** A path as short as it can be said. */
function toShort(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}

/** The first signal lets what is under way end, the second does not. */
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
