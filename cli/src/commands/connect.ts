/** `portico connect`: offers the stdio servers of this machine through a gateway, over one connection that this machine dials. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfig, type ConnectConfig } from '../connect/config.ts';
import { findStoredToken, toDeviceToken, toTokenPath } from '../connect/device-tokens.ts';
import { enrolOnce } from '../connect/enrolment.ts';
import { createChildAdapter } from '../connect/child-adapter.ts';
import { startRun } from '../connect/run.ts';
import { readSeconds } from '../connect/seconds.ts';
import { untilSignalled } from '../connect/signals.ts';
import type { View } from '../connect/view.ts';
import { readConfigFile, watchConfig } from '../connect/watch-config.ts';
import { createView } from '../connect/view-of-terminal.ts';
import { EXIT, Failure } from '../failure.ts';
import { readGatewayUrl, readTarget, readToken } from '../gateway-options.ts';

const HELP = `
The file is any client's mcp.json. Its programs are run; entries with a URL are
left out, since \`portico import\` registers those. \${NAME} in command, args, env
and cwd stands for an environment variable. Put secrets into env: other users of
this machine can read args. An entry may have settings under "portico":

  "files": {
    "command": "npx",
    "args": ["-y", "@modelcontextprotocol/server-filesystem", "."],
    "portico": {
      "description": "Notes of the team",
      "tools": {"allow": ["read_*"], "deny": ["read_media_file"]}
    }
  }

Run once per machine, with a token that may write servers. The device token that
the machine gets is kept in ~/.config/portico/connectors.json:
  export PORTICO_URL=https://portico.example.com
  PORTICO_TOKEN=portico_… portico connect --enroll laptop

From then on:
  portico connect

If that file is lost, or to move the connector to another machine:
  PORTICO_TOKEN=portico_… portico connect --enroll laptop --replace

Without a stored token, for instance in a container:
  PORTICO_CONNECTOR_TOKEN=portico_device_… portico connect --config mcp.json

The file is reloaded when it changes. Ctrl-C stops after the running requests,
at most --drain seconds later; a second Ctrl-C stops at once.`;

interface ConnectOptions {
  url?: string;
  config: string;
  tokenFile?: string;
  token?: string;
  enroll?: string;
  replace?: boolean;
  drain: number;
  keepalive: number;
  quiet?: boolean;
  verbose?: boolean;
}

/** Adds `connect`. */
export function addConnect(program: Command): void {
  program
    .command('connect')
    .summary('offer the stdio servers of this machine through the gateway')
    .description('Run the stdio servers of an mcp.json and offer them through the gateway.')
    .option('--config <file>', 'the mcp.json', 'mcp.json')
    .option('--url <url>', 'URL of the gateway, or PORTICO_URL (default http://127.0.0.1:8787)')
    .option(
      '--token-file <file>',
      'file with the device token; with --enroll: with the token to enrol with',
    )
    .option('--enroll <name>', 'first register this machine as a connector of this name')
    .option('--replace', 'with --enroll: take over the connector of this name')
    .option(
      '--token <token>',
      'token to enrol with; prefer PORTICO_TOKEN, since others can read arguments',
    )
    .option(
      '--drain <seconds>',
      'seconds that running requests may take after a stop',
      readSeconds(0, 3600),
      10,
    )
    .option('--keepalive <seconds>', 'seconds between two pings', readSeconds(0.1, 3600), 20)
    .option('--quiet', 'print only the reason for exiting')
    .option('--verbose', 'show traffic counters of the connection')
    .addHelpText('after', HELP)
    .action(runConnect);
}

async function runConnect(options: ConnectOptions): Promise<void> {
  const { origin } = readGatewayUrl(options, process.env);
  const text = readConfigFile(options.config);
  const read = (content: string) => readConfig(content, resolve(options.config), process.env);
  const config = read(text);
  const view = createView(options, origin);
  tellNotes(config, view);
  const token = await findToken(options, origin, view);
  const run = startRun({
    origin,
    token,
    servers: config.servers,
    createAdapter: createChildAdapter,
    view,
    isVerbose: options.verbose === true,
    keepaliveMs: options.keepalive * 1000,
    drainMs: options.drain * 1000,
  });
  const stopWatching = watchConfig(
    options.config,
    text,
    async edited => {
      const next = read(edited);
      tellNotes(next, view);
      return run.update(next.servers);
    },
    view,
  );
  await untilSignalled(run).finally(stopWatching);
}

function tellNotes({ skipped, warnings }: ConnectConfig, view: View): void {
  for (const { key, reason } of skipped) view.note(`${key}: skipped: ${reason}`, 'faint');
  for (const warning of warnings) view.note(`warning: ${warning}`, 'busy');
}

/** Finds the device token: in a file, in the environment, or stored by an earlier `--enroll`. */
async function findToken(options: ConnectOptions, origin: string, view: View): Promise<string> {
  const { env } = process;
  const { tokenFile, enroll, replace = false } = options;
  const path = toTokenPath(env);
  if (enroll !== undefined) {
    const { token: admin } = readTarget({ ...options, url: origin }, env);

    const { stored, isNew } = await enrolOnce(path, origin, await admin.get(), enroll, replace);
    if (isNew) view.note(`enrolled as ${stored.name}; the token of this machine is in ${path}`);
    return stored.token;
  }
  if (tokenFile !== undefined) return toDeviceToken(readToken({ tokenFile }, {}) ?? '', tokenFile);
  const given = env['PORTICO_CONNECTOR_TOKEN'];
  if (given) return toDeviceToken(given, 'PORTICO_CONNECTOR_TOKEN');
  const stored = await findStoredToken(path, origin);
  if (stored) return stored.token;
  throw new Failure(
    `this machine is not a connector of ${origin} yet; run \`portico connect --enroll NAME\` once`,
    EXIT.usage,
  );
}
