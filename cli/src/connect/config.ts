/**
 * Reads which servers of an `mcp.json` this machine runs, and how; takes every shape that the registry imports. Only programs are run; all
 * other entries are listed with a reason. Variables are filled in here, and no message contains their values. Pure.
 */
import { resolve } from 'node:path';
import { z } from 'zod';
import { fillVariables } from '../../../local/variables.ts';
import { DescriptionSchema } from '../../../src/records/record-schema.ts';
import type { Era } from '../../../src/shared/protocol.ts';
import { toServerName } from '../../../src/servers/transfer/import-names.ts';
import type { McpEntry, StdioEntry } from '../../../src/servers/transfer/mcp-entry.ts';
import { parseMcpJson } from '../../../src/servers/transfer/mcp-json.ts';
import { EXIT, Failure } from '../failure.ts';
import { toLine } from './one-line.ts';
import { holdsSecret } from './hidden-values.ts';

/** Servers that one connector may offer. */
const MAX_SERVERS = 1_000;
const MAX_NAME_CHARS = 80;

const patterns = z.array(z.string().min(1));
/** Client capabilities that a legacy program can be told. */
const CapabilitySchema = z.enum(['roots', 'sampling', 'elicitation']);
export type ChildCapability = z.infer<typeof CapabilitySchema>;

/** Settings for this command, under an entry's key `portico`. */
const OwnSchema = z.strictObject({
  era: z.enum(['legacy', 'modern']).exactOptional(),
  capabilities: z.array(CapabilitySchema).exactOptional(),
  tools: z
    .strictObject({ allow: patterns.exactOptional(), deny: patterns.exactOptional() })
    .default({}),
  description: DescriptionSchema.default(''),
});
const GivenSchema = z.object({
  cwd: z.string().min(1).optional(),
  description: DescriptionSchema.optional(),
  portico: OwnSchema.optional(),
});

/** Which tools of a server are offered: all, or those of `allow`, minus those of `deny`. */
export interface ToolLists {
  allow?: string[];
  deny?: string[];
}

/** A program to run. */
export interface ServerConfig {
  /** Its name in the file. */
  key: string;
  /** Its name in the registry. */
  name: string;
  command: string;
  args: string[];
  /** Added to the basic environment. */
  env: Record<string, string>;
  /** Absolute path. */
  cwd?: string;
  /** Values of variables that were filled in outside `env`; never shown. */
  secrets: string[];
  /** Those of `secrets` whose variable name says that they are secret; also removed from what the program sends. */
  hidden: string[];
  description: string;
  tools: ToolLists;
  /** The client capabilities that the program is told, for all clients; undefined: each client's own. */
  capabilities?: readonly ChildCapability[];
  /** The only era to use with the program; undefined: with a program of both eras, each client's own. */
  era?: Era;
}

export interface ConnectConfig {
  /** At least one. */
  servers: ServerConfig[];
  /** Entries that are not run; `reason` completes a sentence that starts with the key. */
  skipped: { key: string; reason: string }[];
  /** Problems that the user should know but that stop nothing. */
  warnings: string[];
}

/**
 * Reads the text of an `mcp.json`.
 * @param file its path, for messages and as the base of a relative `cwd`
 * @throws Failure that names the invalid entry
 */
export function readConfig(
  text: string,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): ConnectConfig {
  const parsed = parseMcpJson(text);
  if ('problem' in parsed) throw usage(`${file} ${parsed.problem}`);
  const skipped: ConnectConfig['skipped'] = [];
  const warnings: string[] = [];
  const servers: ServerConfig[] = [];
  for (const entry of parsed.entries) {
    const reason = whySkipped(entry);
    if (reason !== undefined) skipped.push({ key: show(entry.name), reason });
    else if (entry.kind === 'stdio') servers.push(toServer(entry, file, env, warnings));
  }
  if (servers.length === 0) throw usage(`${file} has no stdio server to run`);
  if (servers.length > MAX_SERVERS) {
    throw usage(`${file} has ${servers.length} stdio servers; a connector offers ${MAX_SERVERS}`);
  }
  checkNames(servers, file);
  return { servers, skipped, warnings };
}

function whySkipped(entry: McpEntry): string | undefined {
  if (entry.isDisabled) return 'disabled in the file';
  switch (entry.kind) {
    case 'stdio':
      return undefined;
    case 'remote':
    case 'record':
      return 'remote; register it with `portico import`';
    case 'broken':
      return entry.problems
        .map(({ field, message }) => `${toLine(field, MAX_NAME_CHARS)} ${message}`)
        .join('; ');
  }
}

/**
 * Reads one program of the file.
 * @param warnings gets what the user should know
 * @throws Failure that names what is invalid
 */
export function toServer(
  entry: StdioEntry,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  warnings: string[],
): ServerConfig {
  const key = show(entry.name);
  const name = toServerName(entry.name);
  if (name === undefined)
    throw usage(`${key} contains no letter or digit that a server name can have`);
  const given = GivenSchema.safeParse(entry.given);
  if (!given.success) {
    const { path, message } = given.error.issues[0] ?? { path: [], message: 'invalid' };
    throw usage(`${key}: ${path.join('.')} in ${file}: ${message}`);
  }
  const { cwd, portico } = given.data;
  const missing = new Set<string>();
  const secrets = new Set<string>();
  const hidden = new Set<string>();
  const fill = (text: string, warning?: (name: string) => string): string => {
    const filled = fillVariables(text, env);
    for (const variable of filled.missing) missing.add(variable);
    for (const variable of filled.used) {
      const value = env[variable] ?? '';
      secrets.add(value);
      if (holdsSecret(variable)) hidden.add(value);
    }
    if (warning) warnings.push(...filled.used.map(warning));
    return filled.text;
  };
  const inArgs = (variable: string) =>
    `${key}: ${variable} is in args, where every user of this machine can read it; prefer env`;
  const server = {
    key,
    name,
    command: fill(entry.command),
    args: entry.args.map(arg => fill(arg, inArgs)),
    env: Object.fromEntries(Object.entries(entry.env).map(([to, value]) => [to, fill(value)])),
    ...(cwd === undefined ? {} : { cwd: resolve(file, '..', fill(cwd)) }),
    secrets: [...secrets],
    hidden: [...hidden],
    description: portico?.description || given.data.description || '',
    tools: portico?.tools ?? {},
    ...(portico?.capabilities ? { capabilities: portico.capabilities } : {}),
    ...(portico?.era ? { era: portico.era } : {}),
  };
  if (missing.size === 0) return server;
  const names = [...missing].join(', ');
  throw usage(`${key} needs environment variables that are not set: ${names}`);
}

/** @throws Failure where two keys give the same registry name */
function checkNames(servers: readonly ServerConfig[], file: string): void {
  const byName = new Map<string, ServerConfig>();
  for (const server of servers) {
    const other = byName.get(server.name.toLowerCase());
    if (other) {
      const keys = `'${other.key}' and '${server.key}'`;
      throw usage(`${keys} in ${file} would both be registered as '${server.name}'; rename one`);
    }
    byName.set(server.name.toLowerCase(), server);
  }
}

const usage = (message: string): Failure => new Failure(message, EXIT.usage);
const show = (name: string): string => toLine(name, MAX_NAME_CHARS);
