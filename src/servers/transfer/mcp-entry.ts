/**
 * Reads one entry of an `mcp.json`: a remote server, a stdio program, a record of this registry, or a broken entry with every problem by
 * field. An entry that runs `mcp-remote` becomes the remote server behind it. Values stay as they are written; `placeholders.ts` interprets
 * them.
 */
import type { FieldProblem } from '../../shared/errors/portico-error.ts';
import { isObject, type JsonObject } from '../../shared/protocol.ts';
import { unwrapMcpRemote } from './mcp-remote.ts';
import type { NetworkTransport } from '../registry/server-schema.ts';

interface Named {
  /** Name in the file. */
  name: string;
  /** Place in the file: `mcpServers.github`. */
  path: string;
  /** The file marks it as disabled. */
  isDisabled: boolean;
}

/** A server with a URL. */
export interface RemoteEntry extends Named {
  kind: 'remote';
  transportType: NetworkTransport;
  url: string;
  headers: Record<string, string>;
  description?: string;
  /** Places of url and headers in the file. */
  fields: { url: string; headers: string };
}

/** A server that is a program. */
export interface StdioEntry extends Named {
  kind: 'stdio';
  command: string;
  args: string[];
  env: Record<string, string>;
  /** The whole entry, for keys that only some readers know. */
  given: JsonObject;
}

/** A record in the form of `POST /api/v1/aggregator/servers`, not validated yet. */
export interface RecordEntry extends Named {
  kind: 'record';
  record: JsonObject;
}

export interface BrokenEntry extends Named {
  kind: 'broken';
  problems: FieldProblem[];
}

export type McpEntry = RemoteEntry | StdioEntry | RecordEntry | BrokenEntry;

const URL_KEYS = ['url', 'httpUrl', 'serverUrl', 'endpoint', 'uri', 'server_url'];
const TYPE_KEYS = ['type', 'transport', 'transportType', 'transport_type'];
const ENV_KEYS = ['env', 'environment', 'envs'];
const HEADER_PATHS = [['headers'], ['requestInit', 'headers'], ['requestOptions', 'headers']];

/** Spellings of a transport, in lower case and without separators. */
const TRANSPORTS: Readonly<Record<string, NetworkTransport | 'STDIO'>> = {
  http: 'HTTP',
  streamable: 'HTTP',
  streamablehttp: 'HTTP',
  httpstream: 'HTTP',
  remote: 'HTTP',
  sse: 'SSE',
  httpsse: 'SSE',
  stdio: 'STDIO',
  local: 'STDIO',
};

/** @param name in the file; anything but a non-blank string is a problem */
export function readEntry(name: unknown, path: string, given: unknown): McpEntry {
  const problems: FieldProblem[] = [];
  const problem = (field: string, message: string) =>
    void problems.push({ field: field === '' ? path : `${path}.${field}`, message });
  if (!isObject(given)) problem('', 'is not an object');
  if (typeof name !== 'string' || name.trim() === '') problem('name', 'is missing');
  const entry = flatten(isObject(given) ? given : {});
  const named = { name: String(name ?? ''), path, isDisabled: isDisabled(entry) };
  if (problems.length > 0) return { ...named, kind: 'broken', problems };
  if (isObject(entry['connection_config'])) {
    return { ...named, kind: 'record', record: given as JsonObject };
  }

  const urlKey = URL_KEYS.find(key => entry[key] !== undefined);
  const typeKey = TYPE_KEYS.find(key => entry[key] !== undefined);
  const transport = typeKey === undefined ? undefined : toTransport(entry[typeKey]);
  if (typeKey !== undefined && transport === undefined) {
    problem(typeKey, 'is not a transport; use "http", "sse" or "stdio"');
  }
  const isStdio = transport === 'STDIO' || (urlKey === undefined && 'command' in entry);
  const read = isStdio
    ? readStdio(entry, named, problem)
    : readRemote(entry, named, urlKey, transport as NetworkTransport | undefined, problem);
  return problems.length > 0 ? { ...named, kind: 'broken', problems } : read;
}

type Problem = (field: string, message: string) => void;

function readRemote(
  entry: JsonObject,
  named: Named,
  urlKey: string | undefined,
  transport: NetworkTransport | undefined,
  problem: Problem,
): RemoteEntry {
  const url = urlKey === undefined ? undefined : entry[urlKey];
  if (urlKey === undefined && transport === undefined) problem('', 'has no command and no url');
  else if (typeof url !== 'string' || url === '') {
    problem(urlKey ?? 'url', 'is missing or not a string');
  }
  const at = HEADER_PATHS.find(path => findIn(entry, path) !== undefined) ?? ['headers'];
  const field = at.join('.');
  const description = entry['description'];
  return {
    ...named,
    kind: 'remote',
    transportType: transport ?? guessTransport(String(url), urlKey),
    url: String(url),
    headers: readTexts(findIn(entry, at), field, problem),
    ...(typeof description === 'string' && description.trim() !== '' ? { description } : {}),
    fields: { url: `${named.path}.${urlKey ?? 'url'}`, headers: `${named.path}.${field}` },
  };
}

function readStdio(entry: JsonObject, named: Named, problem: Problem): StdioEntry | RemoteEntry {
  const { command, args = [] } = entry;
  const words = Array.isArray(command) ? (command as unknown[]) : [command];
  const envKey = ENV_KEYS.find(key => entry[key] !== undefined) ?? 'env';
  const env = readTexts(entry[envKey], envKey, problem);
  const isText = (word: unknown) => typeof word === 'string' && word !== '';
  if (words.length === 0 || !words.every(isText)) problem('command', 'is missing or not a string');
  if (!Array.isArray(args) || !args.every(arg => ['string', 'number'].includes(typeof arg))) {
    problem('args', 'is not a list of strings');
  }
  const [program = '', ...rest] = [...words, ...(Array.isArray(args) ? args : [])].map(String);
  const wrapped = unwrapMcpRemote(program, rest, env);
  if (!wrapped) {
    return { ...named, kind: 'stdio', command: program, args: rest, env, given: entry };
  }
  const { url, headers, transport } = wrapped;
  return {
    ...named,
    kind: 'remote',
    transportType: transport ?? guessTransport(url, undefined),
    url,
    headers,
    fields: { url: `${named.path}.args`, headers: `${named.path}.args` },
  };
}

/** Moves members up that some clients nest: those of the transport, and those of the command. */
function flatten(entry: JsonObject): JsonObject {
  const { transport, command } = entry;
  const rest = isObject(transport) ? { ...entry, transport: undefined, ...transport } : entry;
  if (!isObject(command)) return rest;
  const { path, ...more } = command;
  return { ...rest, ...more, command: path };
}

/** Guesses the transport if none is named: a path that ends in `/sse` means HTTP+SSE in these files. */
function guessTransport(url: string, urlKey: string | undefined): NetworkTransport {
  if (urlKey === 'httpUrl' || !URL.canParse(url)) return 'HTTP';
  return /\/sse\/?$/.test(new URL(url).pathname) ? 'SSE' : 'HTTP';
}

function toTransport(type: unknown): NetworkTransport | 'STDIO' | undefined {
  if (typeof type !== 'string') return undefined;
  const spelled = type.toLowerCase().replaceAll(/[\s_+-]/g, '');
  return Object.hasOwn(TRANSPORTS, spelled) ? TRANSPORTS[spelled] : undefined;
}

function isDisabled({ disabled, enabled, isActive }: JsonObject): boolean {
  return disabled === true || enabled === false || isActive === false;
}

function findIn(entry: JsonObject, path: readonly string[]): unknown {
  let value: unknown = entry;
  for (const key of path) value = isObject(value) ? value[key] : undefined;
  return value;
}

/** Reads an object of strings; numbers and booleans are converted to strings. */
function readTexts(value: unknown, field: string, problem: Problem): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) {
    problem(field, 'is not an object of strings');
    return {};
  }
  const texts = Object.entries(value).map(([name, text]): [string, string] => {
    const isText = ['string', 'number', 'boolean'].includes(typeof text);
    if (!isText) problem(`${field}.${name}`, 'is not a string');
    return [name, isText ? String(text) : ''];
  });
  return Object.fromEntries(texts);
}
