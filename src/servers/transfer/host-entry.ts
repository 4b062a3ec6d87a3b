/**
 * How each host writes an HTTP server in its own configuration, with a token or without one (then the host signs its user in). This is the
 * only place that knows; the configurations to paste and the command line both use it. Based on the hosts' documentation. Claude Desktop
 * starts programs only, so it starts `mcp-remote`. Pure.
 */

export interface HostEntry {
  format: 'json' | 'toml';
  /** The member of the file that holds the servers. */
  servers: string;
  /** @param authorization value of the header; undefined: the host signs its user in */
  toEntry(url: string, authorization?: string): Record<string, unknown>;
}

/** A host with a JSON file. @param key the member of an entry that holds the URL @param type the members before it */
const inJson = (servers: string, key = 'url', type: { type?: string } = {}): HostEntry => ({
  format: 'json',
  servers,
  toEntry: (url, Authorization) => ({
    ...type,
    [key]: url,
    ...(Authorization === undefined ? {} : { headers: { Authorization } }),
  }),
});

export const HOST_ENTRIES = {
  'claude-code': inJson('mcpServers', 'url', { type: 'http' }),
  'claude-desktop': {
    format: 'json',
    servers: 'mcpServers',
    toEntry(url: string, authorization?: string) {
      const program = { command: 'npx', args: ['-y', 'mcp-remote', url] };
      if (authorization === undefined) return program;
      // No space in an argument: some hosts split it there.
      const args = [...program.args, '--header', 'Authorization:${AUTH_HEADER}'];
      return { ...program, args, env: { AUTH_HEADER: authorization } };
    },
  },
  cursor: inJson('mcpServers'),
  vscode: inJson('servers', 'url', { type: 'http' }),
  codex: {
    format: 'toml',
    servers: 'mcp_servers',
    toEntry: (url: string, Authorization?: string) => ({
      url,
      ...(Authorization === undefined ? {} : { http_headers: { Authorization } }),
    }),
  },
  windsurf: inJson('mcpServers', 'serverUrl'),
  cline: inJson('mcpServers', 'url', { type: 'streamableHttp' }),
  zed: inJson('context_servers'),
  'gemini-cli': inJson('mcpServers', 'httpUrl'),
} as const satisfies Record<string, HostEntry>;
export type Host = keyof typeof HOST_ENTRIES;

/**
 * Formats a TOML table with strings, lists and inline tables; a JSON string is a valid basic string of TOML.
 * @param path keys that need no quotes
 */
export function toTomlTable(path: readonly string[], entry: Record<string, unknown>): string {
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${toTomlValue(value)}\n`);
  return `[${path.join('.')}]\n${lines.join('')}`;
}

function toTomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toTomlValue).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, each]) => `${key} = ${toTomlValue(each)}`);
  return `{ ${members.join(', ')} }`;
}
