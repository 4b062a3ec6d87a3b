/** `portico servers`: the registered servers. Adds add, edit, connect and disconnect to the verbs that all records have. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { again } from '../again.ts';
import { EXIT, Failure } from '../failure.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { type Api, findRecord, SERVERS, type ServerRecord } from '../gateway/api.ts';
import { readHeaders } from '../gateway/headers.ts';
import { SERVER } from '../resources/resources.ts';
import { note, writeJson } from '../terminal.ts';
import { addResource } from './resources.ts';

interface AddOptions extends Options {
  sse?: boolean;
  header?: string[];
  description?: string;
  connect: boolean;
  wait: boolean;
}

interface EditOptions extends Options {
  name?: string;
  header?: string[];
  description?: string;
  wait: boolean;
}

/** How long `add`, `edit` and `connect` wait for a server's connection, in milliseconds. */
const SETTLE_MS = 20_000;
const LOOK_MS = 200;

const ADD_HELP = `
\${NAME} in a header stands for an environment variable, so that no credential
gets into the history of the shell; $\${NAME} stands for a secret that is stored
with portico secrets set NAME.

Examples:
  portico servers add docs https://docs.example.com/mcp
  portico servers add old https://old.example.com/sse --sse
  portico servers add github https://mcp.example.com/mcp \\
    --header 'Authorization: Bearer \${GITHUB_TOKEN}'`;

const EDIT_HELP = `
Fields that are not given stay. Headers replace all former ones. A URL with
another origin drops the headers, unless new ones are given.

Examples:
  portico servers edit github --name hub
  portico servers edit github https://mcp.example.com/v2/mcp
  portico servers edit github --header 'Authorization: Bearer \${GITHUB_TOKEN}'`;

/** Adds `servers`. */
export function addServers(program: Command): void {
  const servers = addResource(program, SERVER)
    .summary('list, show, add, edit, connect and remove servers')
    .description('List the servers behind the gateway, show one, or change them.');
  const add = servers
    .command('add <name> <url>')
    .description('Register a server by its URL.')
    .option('--sse', 'the server uses the old HTTP+SSE transport')
    .option('--header <line>', "header of each request, like 'Name: value'; may be repeated", again)
    .option('--description <text>', 'what it is for')
    .option('--no-connect', 'register it without connecting')
    .option('--no-wait', 'do not wait for its tools')
    .addHelpText('after', ADD_HELP);
  shown(add).action(addServer);
  const edit = servers
    .command('edit <server> [url]')
    .description('Change the URL, name, description or headers of a server.')
    .option('--name <name>', 'new name; the names of its tools change too')
    .option('--header <line>', 'as for add; replaces all headers; may be repeated', again)
    .option('--description <text>', 'what it is for')
    .option('--no-wait', 'do not wait for its tools')
    .addHelpText('after', EDIT_HELP);
  shown(edit).action(editServer);
  for (const verb of ['connect', 'disconnect'] as const) {
    const command = servers
      .command(`${verb} <server>`)
      .description(`${verb[0]?.toUpperCase()}${verb.slice(1)} a server, by its name or id.`)
      .addHelpText('after', `\nExample:\n  portico servers ${verb} github`);
    shown(command).action((name: string, options: Options) => change(verb, name, options));
  }
}

async function addServer(name: string, url: string, options: AddOptions): Promise<void> {
  const api = apiOf(options);
  const headers = readHeaders(options.header ?? [], process.env);
  const record = await api.post<ServerRecord>(SERVERS, {
    name,
    transport_type: options.sse ? 'SSE' : 'HTTP',
    connection_config: { url, ...(headers ? { headers } : {}) },
    auto_connect: options.connect,
    ...(options.description === undefined ? {} : { description: options.description }),
  });
  const mustSettle = options.connect && options.wait;
  await tell(mustSettle ? await settled(api, record) : record, options, mustSettle);
}

async function editServer(
  server: string,
  address: string | undefined,
  options: EditOptions,
): Promise<void> {
  const { name, description } = options;
  const headers = readHeaders(options.header ?? [], process.env);
  const config = { ...(address ? { url: address } : {}), ...(headers ? { headers } : {}) };
  const patch = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(Object.keys(config).length > 0 ? { connection_config: config } : {}),
  };
  if (Object.keys(patch).length === 0) {
    throw new Failure('name what to change: a URL, --name, --header, --description', EXIT.usage);
  }
  const api = apiOf(options);
  const known = findRecord('server', server, await api.list<ServerRecord>(SERVERS, 'servers'));
  const path = `${SERVERS}/${known.id}`;
  const record = await api.json<ServerRecord>('PATCH', path, JSON.stringify(patch));
  await tell(options.wait ? await settled(api, record) : record, options, options.wait);
}

async function change(
  verb: 'connect' | 'disconnect',
  name: string,
  options: Options,
): Promise<void> {
  const api = apiOf(options);
  const server = findRecord('server', name, await api.list<ServerRecord>(SERVERS, 'servers'));
  const path = `${SERVERS}/${server.id}`;
  await api.post(`${path}/${verb}`);
  const now = await api.json<ServerRecord>('GET', path);
  const isAwaited = verb === 'connect';
  await tell(isAwaited ? await settled(api, now) : now, options, isAwaited);
}

/** Polls until the server is no longer connecting; returns the latest record when that takes too long. */
async function settled(api: Api, record: ServerRecord): Promise<ServerRecord> {
  const deadline = Date.now() + SETTLE_MS;
  let seen = record;
  while (seen.status === 'CONNECTING' && Date.now() < deadline) {
    await pause(LOOK_MS);
    seen = await api.json<ServerRecord>('GET', `${SERVERS}/${record.id}`);
  }
  return seen;
}

/** Message for a bad status without `last_error`. */
const NO_REASON: Readonly<Record<string, string>> = {
  ERROR: 'it failed',
  DEGRADED: 'it works only in part',
};

/**
 * @param wasAwaited whether the command waited for the connection
 * @throws Failure with the reason where the server's status is bad
 */
async function tell(server: ServerRecord, options: Options, wasAwaited: boolean): Promise<void> {
  const { name, status, tool_count: count, last_error: problem } = server;
  if (options.json) await writeJson(server);
  else note(`${name} is ${status}${status === 'CONNECTED' ? `, ${count} tools` : ''}`);
  const isLate = wasAwaited && status === 'CONNECTING';
  if (isLate)
    throw new Failure(`${name} did not connect within ${SETTLE_MS / 1000} s; see portico servers`);
  const reason = NO_REASON[status];
  if (reason !== undefined) throw new Failure(`${name}: ${problem ?? reason}`);
}
