/**
 * Reads the `mcp.json` that other programs use: which of its servers a URL reaches, and why the others are left out.
 * Accepts `mcpServers` and `servers`, `url` and `endpoint`, `type` and `transport`, `headers`. Refuses a file that is
 * not of this shape with one line; one bad entry never hides the others.
 */
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

const TRANSPORTS: Readonly<Record<string, 'HTTP' | 'SSE'>> = {
  http: 'HTTP',
  'streamable-http': 'HTTP',
  streamable_http: 'HTTP',
  streamablehttp: 'HTTP',
  sse: 'SSE',
};

/**
 * Read the text of an `mcp.json`.
 * @param file its name, for messages
 * @throws StartError with exit code 2 when it is not JSON or has no servers
 */
export function parseServerConfig(text: string, file: string): ServerConfig {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new StartError(`${file} is not valid JSON: ${(error as SyntaxError).message}`, 2);
  }
  const entries = isRecord(document) ? (document['mcpServers'] ?? document['servers']) : undefined;
  if (!isRecord(entries)) {
    throw new StartError(`${file} has no "mcpServers" and no "servers" object.`, 2);
  }
  const config: ServerConfig = { servers: [], skipped: [] };
  for (const [name, entry] of Object.entries(entries)) {
    const server = parseEntry(name, entry);
    if ('reason' in server) config.skipped.push(server);
    else config.servers.push(server);
  }
  return config;
}

function parseEntry(name: string, entry: unknown): ConfiguredServer | SkippedServer {
  if (!isRecord(entry)) return { name, reason: 'is not an object' };
  if (entry['disabled'] === true) return { name, reason: 'is disabled in the file' };
  const url = entry['url'] ?? entry['endpoint'];
  const type = entry['type'] ?? entry['transport'];
  if (url === undefined && (entry['command'] !== undefined || type === 'stdio')) {
    return {
      name,
      reason: 'is a stdio server: it needs `portico connect`, which does not exist yet',
    };
  }
  if (typeof url !== 'string' || !URL.canParse(url)) return { name, reason: 'has no valid url' };
  const transportType = findTransport(type, url);
  if (transportType === undefined) {
    return { name, reason: `has an unknown type ${JSON.stringify(type)}` };
  }
  const headers = entry['headers'] ?? {};
  if (!isHeaders(headers)) return { name, reason: 'has headers that are not all text' };
  return { name, transportType, url, headers };
}

/** A type that is named decides; without one, a path that ends in `/sse` is HTTP+SSE, as these files mean it. */
function findTransport(type: unknown, url: string): 'HTTP' | 'SSE' | undefined {
  if (type === undefined) return new URL(url).pathname.endsWith('/sse') ? 'SSE' : 'HTTP';
  return typeof type === 'string' ? TRANSPORTS[type.toLowerCase()] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isHeaders(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every(text => typeof text === 'string');
}
