/**
 * The `mcp.json` given at the start: which of its servers are reachable by URL, and why the others are left out. It uses the parser of the
 * API's import. An invalid file is refused with one line; one bad entry does not affect the others.
 */
import { assignNames } from '../src/servers/transfer/import-names.ts';
import type { McpEntry } from '../src/servers/transfer/mcp-entry.ts';
import { parseMcpJson } from '../src/servers/transfer/mcp-json.ts';
import { StartError } from './start-error.ts';

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
 * @throws StartError with exit code 2 if it is not JSON or has no servers
 */
export function parseServerConfig(text: string, file: string): ServerConfig {
  const parsed = parseMcpJson(text);
  if ('problem' in parsed) throw new StartError(`${file} ${parsed.problem}.`, 2);
  const names = assignNames(parsed.entries.map(entry => entry.name));
  const config: ServerConfig = { servers: [], skipped: [] };
  parsed.entries.forEach((entry, index) => {
    const read = toServer(entry, names[index] ?? entry.name);
    if ('reason' in read) config.skipped.push(read);
    else config.servers.push(read);
  });
  return config;
}

function toServer(entry: McpEntry, name: string): ConfiguredServer | SkippedServer {
  const skip = (reason: string) => ({ name: entry.name, reason });
  if (entry.isDisabled) return skip('is disabled in the file');
  switch (entry.kind) {
    case 'remote': {
      const { transportType, url, headers } = entry;
      return URL.canParse(url) ? { name, transportType, url, headers } : skip('has no valid url');
    }
    case 'stdio':
      return skip('is a program: `portico connect` offers it');
    case 'record':
      return skip('is a record of a registry: import it through the API');
    case 'broken':
      return skip(
        entry.problems.map(({ field, message }) => `${message} (${field})`).join(', and '),
      );
  }
}
