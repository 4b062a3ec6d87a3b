/**
 * The `mcp.json` given at the start: which of its servers are reachable by URL, and why the others are left out. It uses the parser of the
 * API's import. An invalid file is refused with one line; one bad entry does not affect the others.
 */
import { escapeReferences } from '../src/credentials/references.ts';
import { assignNames } from '../src/servers/transfer/import-names.ts';
import { fillHeader } from '../src/servers/transfer/placeholders.ts';
import type { McpEntry } from '../src/servers/transfer/mcp-entry.ts';
import { parseMcpJson } from '../src/servers/transfer/mcp-json.ts';
import { StartError } from './start-error.ts';
import { fillVariables } from './variables.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfiguredServer {
  name: string;
  transportType: 'HTTP' | 'SSE';
  url: string;
  headers: Record<string, string>;
}

export interface SkippedServer {
  name: string;
  /** Ends a sentence that begins with the name. */
  reason: string;
}

export interface ServerConfig {
  servers: ConfiguredServer[];
  skipped: SkippedServer[];
}

/**
 * Parses the text of an `mcp.json`.
 * @param file its name, for messages
 * @param env fills in the variables of addresses and headers, but for the gateway's own
 * @throws StartError with exit code 2 if it is not JSON or has no servers
 */
export function parseServerConfig(text: string, file: string, env: Environment): ServerConfig {
  const parsed = parseMcpJson(text);
  if ('problem' in parsed) throw new StartError(`${file} ${parsed.problem}.`, 2);
  const variables = variablesOf(env);
  const names = assignNames(parsed.entries.map(entry => entry.name));
  const config: ServerConfig = { servers: [], skipped: [] };
  parsed.entries.forEach((entry, index) => {
    const read = toServer(entry, names[index] ?? entry.name, variables);
    if ('reason' in read) config.skipped.push(read);
    else config.servers.push(read);
  });
  return config;
}

function toServer(
  entry: McpEntry,
  name: string,
  env: Environment,
): ConfiguredServer | SkippedServer {
  const skip = (reason: string) => ({ name: entry.name, reason });
  if (entry.isDisabled) return skip('is disabled in the file');
  switch (entry.kind) {
    case 'remote': {
      const { transportType } = entry;
      const { text: url, missing } = fillVariables(entry.url, env);
      if (missing.length > 0) return skip(`needs ${missing.join(', ')}, which is not set`);
      if (!URL.canParse(url)) return skip('has no valid url');
      const filled = Object.entries(entry.headers).map(([key, given]) => {
        return { key, ...fill(given, env) };
      });
      const bad = filled.find(({ problem }) => problem !== undefined);
      if (bad) return skip(`has a header ${bad.key} that ${bad.problem}`);
      const headers = Object.fromEntries(filled.map(({ key, text }) => [key, text]));
      return { name, transportType, url, headers };
    }
    case 'stdio':
      return skip('is a program: `portico connect` offers it');
    case 'record':
      return skip('is a record of a registry: import it through the API');
    case 'broken':
      return skip(
        `is not valid: ${entry.problems.map(({ field, message }) => `${field} ${message}`).join('; ')}`,
      );
  }
}

/** The variables that a file may name. The gateway's own keys and tokens are none of its servers' business; an empty one is not set. */
function variablesOf(env: Environment): Environment {
  const isGiven = ([name, value]: [string, string | undefined]) =>
    value !== '' && (!name.startsWith('PORTICO_') || name === 'PORTICO_CLIENT_TOKEN');
  return Object.fromEntries(Object.entries(env).filter(isGiven));
}

/** An escaped `${`, or a placeholder in a form that some client fills in. */
const PART = /\$\$\{|\$\{\{[^{}]*\}\}|\$\{[^{}]*\}|\{env:\w+\}/g;

/** Fills in the variables of a header. What is not set refers to a secret of the gateway, as in an import. */
function fill(header: string, env: Environment): { text: string; problem: string | undefined } {
  const problems: string[] = [];
  const text = header.replaceAll(PART, (part, at: number) => {
    if (part === '$${') return part;
    const { text: value, used } = fillVariables(part, env);
    if (used.length === 0) {
      const secret = fillHeader(part);
      if ('problem' in secret) problems.push(secret.problem);
      return 'text' in secret ? secret.text : part;
    }
    // Together with the next one it would read as an escape, or as a reference.
    if (value.endsWith('$') && /^\$?\{/.test(header.slice(at + part.length))) {
      problems.push(`cannot be filled in: the value of ${used.join()} ends in $ before another`);
    }
    return escapeReferences(value);
  });
  return { text, problem: problems[0] };
}
