/**
 * `npm start`, once the packages are there: gateway, demo servers and registrations on this machine.
 *
 * Owns: the order of the start, what the terminal shows, and the end: Ctrl-C, SIGTERM, or the end of the process that
 * started it (IPC) stops everything that was started here within two seconds, with exit code 0. A reason not to start
 * is one line on standard error and exit code 1, or 2 for a wrong command line or setting.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApi } from './api.ts';
import type { Api } from './api.ts';
import { parseServerConfig } from './config-file.ts';
import type { ServerConfig } from './config-file.ts';
import { lockDataFolder } from './data-lock.ts';
import { startDemo } from './demo.ts';
import type { Demo } from './demo.ts';
import { openLogFile } from './log-file.ts';
import type { LogFile } from './log-file.ts';
import { parseOptions } from './options.ts';
import { isFreePort, portTaken } from './ports.ts';
import { toReadyText } from './ready-text.ts';
import { loadSecrets, makeDataFolder } from './secrets.ts';
import { StartError } from './start-error.ts';
import { createSteps } from './steps.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Everything that was started is told to end, and then this process ends, within this time. */
const STOP_TIMEOUT_MS = 1500;
/** A server that is registered here has this time to be connected before the start goes on without it. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Variables of the environment that are no settings of the Worker. */
const RESERVED = new Set(['PORTICO_ADMIN_TOKEN', 'PORTICO_KEYS', 'PORTICO_MODE']);

const steps = createSteps(process.stdout);
const stops: (() => unknown)[] = [];
let isStopping = false;
/** Known once the data folder is. */
let logFile: LogFile | undefined;

async function start(): Promise<void> {
  const userDir = process.env['npm_lifecycle_event'] === 'start' ? process.env['INIT_CWD'] : '';
  const options = parseOptions(
    process.argv.slice(2),
    userDir || process.cwd(),
    join(ROOT, '.portico'),
  );
  const { dataDir, port } = options;
  const config = options.configFile === undefined ? undefined : readConfig(options.configFile);
  if (!(await isFreePort(port))) throw portTaken(port);
  await makeDataFolder(dataDir);
  stops.push(lockDataFolder(dataDir));
  const secrets = await loadSecrets(dataDir, process.env['PORTICO_ADMIN_TOKEN']);
  const log = openLogFile(join(dataDir, 'log'));
  logFile = log;

  const demo = options.demo ? await startDemoServers(dataDir, log) : undefined;
  const { startHost } = await import('./host.ts');
  const host = await steps.run(
    'starting the gateway',
    async () => {
      const started = await startHost({
        dataDir,
        port,
        log,
        env: {
          ...readSettings(),
          PORTICO_KEYS: secrets.keyRing,
          PORTICO_ADMIN_TOKEN: secrets.adminToken,
        },
      });
      stops.unshift(started.close);
      await checkHealth(started.url);
      return started;
    },
    ({ applied }) =>
      applied.length === 0
        ? 'gateway started'
        : `gateway started, database made up to date (${applied.length} migrations)`,
  );
  const api = createApi(host.url, secrets.adminToken);
  if (demo !== undefined) await registerDemoServers(demo, api);
  if (config !== undefined) await registerConfigured(config, api);
  steps.say(toReadyText({ origin: host.url, secrets, dataDir: toShort(dataDir), steps }));
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

async function registerDemoServers(demo: Demo, api: Api): Promise<void> {
  for (const server of demo.servers) {
    const { name, title } = server;
    await registerOne(`${name} (${title})`, api, () => demo.register(server, api));
  }
}

async function registerConfigured({ servers, skipped }: ServerConfig, api: Api): Promise<void> {
  const existing = new Map((await api.listServers()).map(server => [server.name, server]));
  for (const { name, transportType, url, headers } of servers) {
    await registerOne(
      name,
      api,
      async () =>
        existing.get(name) ??
        api.createServer({
          name,
          transport_type: transportType,
          connection_config: { url, headers },
        }),
    );
  }
  for (const { name, reason } of skipped) steps.warn(`${name} is left out: it ${reason}`);
}

/** Register a server and wait for its tools; one that fails is said in a line and stops nothing. */
async function registerOne(
  name: string,
  api: Api,
  register: () => Promise<{ id: string }>,
): Promise<void> {
  try {
    const connect = async () => api.waitForServer((await register()).id, CONNECT_TIMEOUT_MS);
    await steps.run(`connecting ${name}`, connect, server =>
      server.status === 'CONNECTED'
        ? `${name}: ${server.tool_count} tools`
        : `${name}: registered, ${server.status}${server.last_error ? ` (${server.last_error})` : ''}`,
    );
  } catch (error) {
    steps.warn(`${name} is not registered: ${toLine(error)}`);
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

/** The settings of the Worker in the environment. */
function readSettings(): Record<string, string> {
  const isSetting = ([name]: [string, unknown]): boolean =>
    name.startsWith('PORTICO_') && !RESERVED.has(name);
  return Object.fromEntries(Object.entries(process.env).filter(isSetting)) as Record<
    string,
    string
  >;
}

async function checkHealth(origin: string): Promise<void> {
  const response = await fetch(`${origin}/health`);
  const text = await response.text();
  if (!response.ok) {
    throw new StartError(`The gateway answers ${response.status}: ${text.slice(0, 200)}`);
  }
}

/** A path as short as it can be said. */
function toShort(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}

function toLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
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
  process.on(signal, () => void stop(0));
}
process.once('disconnect', () => void stop(0));
process.on('uncaughtException', fail);
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

start().catch(fail);
