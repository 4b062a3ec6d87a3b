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

const headersOf = (Authorization: string | undefined) =>
  Authorization === undefined ? {} : { headers: { Authorization } };

const inJson = (servers: string, toEntry: HostEntry['toEntry']): HostEntry => ({
  format: 'json',
  servers,
  toEntry,
});

export const HOST_ENTRIES = {
  'claude-code': inJson('mcpServers', (url, authorization) => ({
    type: 'http',
    url,
    ...headersOf(authorization),
  })),
  'claude-desktop': inJson('mcpServers', (url, authorization) => {
    const program = { command: 'npx', args: ['-y', 'mcp-remote', url] };
    if (authorization === undefined) return program;
    // No space in an argument: some hosts split it there.
    const args = [...program.args, '--header', 'Authorization:${AUTH_HEADER}'];
    return { ...program, args, env: { AUTH_HEADER: authorization } };
  }),
  cursor: inJson('mcpServers', (url, authorization) => ({ url, ...headersOf(authorization) })),
  vscode: inJson('servers', (url, authorization) => ({
    type: 'http',
    url,
    ...headersOf(authorization),
  })),
  codex: {
    format: 'toml',
    servers: 'mcp_servers',
    toEntry: (url: string, Authorization?: string) => ({
      url,
      ...(Authorization === undefined ? {} : { http_headers: { Authorization } }),
    }),
  },
  windsurf: inJson('mcpServers', (serverUrl, authorization) => ({
    serverUrl,
    ...headersOf(authorization),
  })),
  cline: inJson('mcpServers', (url, authorization) => ({
    type: 'streamableHttp',
    url,
    ...headersOf(authorization),
  })),
  zed: inJson('context_servers', (url, authorization) => ({ url, ...headersOf(authorization) })),
  'gemini-cli': inJson('mcpServers', (httpUrl, authorization) => ({
    httpUrl,
    ...headersOf(authorization),
  })),
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
