/** `portico up`: gateway, programs and stdio adapter on one machine, with one command. */
import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { readSeconds } from '../connect/seconds.ts';
import { readConfigFile, watchConfig } from '../connect/watch-config.ts';
import { createView } from '../connect/view-of-terminal.ts';
import { untilSignalled } from '../connect/signals.ts';
import { EXIT, Failure } from '../failure.ts';
import { dataFolder } from '../folders.ts';
import { serveStdio } from '../stdio/serve.ts';
import { isTerminal, note } from '../terminal.ts';
import type { Entries } from '../up/entries.ts';
import type { Joined } from '../up/join.ts';
import type { Up } from '../up/run-up.ts';

interface Options {
  config: string;
  port?: number;
  data?: string;
  stdio?: boolean;
  names?: string;
  drain: number;
  quiet?: boolean;
}

const DEFAULT_PORT = 8787;
/** How long the start waits for servers; later ones join when they are ready. A host on standard input waits less. */
const SETTLE_MS = 90_000;
const STDIO_SETTLE_MS = 15_000;

const HELP = `
The file is any client's mcp.json ("mcpServers" or "servers"). Its programs are
run here, its URLs are registered, and the gateway serves all of them at one
URL. \${NAME} stands for an environment variable, also in URLs and headers,
where it is stored when a server is first registered; whoever may see servers
sees their URLs. Data is kept in the folder of --data. The file is reloaded
when it changes.

With --stdio it also serves MCP over stdio, for a host that starts it. If
several hosts start it, the others join the gateway that already runs:

  {"mcpServers": {"all": {
    "command": "portico",
    "args": ["up", "--config", "/path/mcp.json", "--stdio"]}}}

Examples:
  portico up --config mcp.json
  portico up --config mcp.json --port 9000 --data ./state
  portico up --config mcp.json --stdio --names colon`;

/** Adds `up`. */
export function addUp(program: Command): void {
  program
    .command('up')
    .summary('run a gateway here with everything in an mcp.json')
    .description('Run a gateway on this machine in front of everything in an mcp.json.')
    .option('--config <file>', 'the mcp.json', 'mcp.json')
    .option(
      '--port <port>',
      `port of the gateway (default ${DEFAULT_PORT}; with --stdio any free one)`,
      readPort,
    )
    .option(
      '--data <folder>',
      'folder for all data (default portico/up in XDG_DATA_HOME or ~/.local/share)',
    )
    .option('--stdio', 'also serve MCP over stdio')
    .addOption(
      new Option(
        '--names <style>',
        'how --stdio writes tool names: server.tool, server:tool, server__tool',
      )
        .choices(['dot', 'colon', 'underscore'])
        .default('dot'),
    )
    .option(
      '--drain <seconds>',
      'seconds that running requests may take after a stop',
      readSeconds(0, 3600),
      10,
    )
    .option('--quiet', 'print only the reason for exiting')
    .addHelpText('after', HELP)
    .action(runUp);
}

async function runUp(options: Options): Promise<void> {
  const { readEntries } = await import('../up/entries.ts');
  const file = resolve(options.config);
  const text = readConfigFile(options.config);
  const entries = readEntries(text, file, process.env);
  const started = untilStarted();
  const up = await startOrJoin(options, entries);
  if (!('view' in up)) {
    started();
    if (!options.quiet)
      note(
        `joined the gateway that already uses this data folder, ${up.origin}; its mcp.json applies`,
      );
    return serveHost(options, up);
  }
  const stopWatching = watchConfig(
    options.config,
    text,
    edited => up.update(readEntries(edited, file, process.env)),
    up.view,
  );
  const ended = untilSignalled(up).finally(stopWatching);
  started();
  up.view.note(
    `ready: ${up.origin}/mcp; the tokens for clients (memberToken) and for administration (adminToken) are in ${up.secretsFile}`,
  );
  if (up.signInLink !== undefined) {
    up.view.note(`console: ${up.signInLink} signs you in once, within an hour`);
  }
  if (options.stdio) {
    await Promise.race([serveHost(options, up), ended]);
    up.stop();
  }
  await ended;
}

function serveHost({ names }: Options, { origin, adminToken }: Joined): Promise<void> {
  return serveStdio(new URL(`/mcp?names=${names}`, origin), adminToken, 'portico up');
}

/** Several hosts each start the same command: with --stdio, all but the first join the gateway that uses the data folder. */
async function startOrJoin(options: Options, entries: Entries): Promise<Up | Joined> {
  try {
    return await start(options, entries);
  } catch (error) {
    if (!options.stdio) throw error;
    const { joinRunning } = await import('../up/join.ts');
    const joined = await joinRunning(error, dataDirOf(options));
    return joined ?? start(options, entries);
  }
}

/** A signal during the start ends the process at once. With this handler set, the start of the gateway keeps no handlers of Miniflare. */
function untilStarted(): () => void {
  const onSignal = () => process.exit(EXIT.failed);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return () => signals.forEach(signal => process.off(signal, onSignal));
}

async function start(options: Options, entries: Entries): Promise<Up> {
  const { startUp } = await load();
  return startUp({
    entries,
    dataDir: dataDirOf(options),
    port: options.port ?? (options.stdio ? 0 : DEFAULT_PORT),
    environment: process.env,
    drainMs: options.drain * 1000,
    settleMs: options.stdio ? STDIO_SETTLE_MS : SETTLE_MS,
    isOnTerminal: isTerminal() && !options.stdio && !options.quiet,
    createView: origin => createView(options, origin),
  });
}

/** The gateway's runtime is heavy and optional, so it is loaded only here. */
async function load(): Promise<typeof import('../up/run-up.ts')> {
  try {
    return await import('../up/run-up.ts');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    note((error as Error).message);
    throw new Failure(
      'the package miniflare is missing; install portico-cli with its optional dependencies',
    );
  }
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new Failure(`--port must be a number from 0 to 65535, not '${text}'`, EXIT.usage);
}

const dataDirOf = ({ data }: Options): string =>
  data === undefined ? dataFolder(process.env) : resolve(data);
